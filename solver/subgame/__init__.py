"""Real-time solving of one spot of a hand: the actual board, hand by hand, on top of a blueprint."""

from solver.subgame.config import SubgameConfig
from solver.subgame.hand_solver import HandSolver
from solver.subgame.solution import SubgameSolution
from solver.subgame.solve import Progress, solve_subgame

__all__ = ["HandSolver", "Progress", "SubgameConfig", "SubgameSolution", "solve_subgame"]
