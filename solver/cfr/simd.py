# ruff: noqa: ARG001
"""Vectors of eight floats for numba kernels.

Numba leaves vectorisation to LLVM, which gives up on loops over many rows of one table because it cannot
prove that the rows do not overlap. Kernels that must be fast say what they mean instead: `load` eight
neighbouring values of a one-dimensional array, compute with the ordinary operators, `store` them. The element
type follows the array (float32, float64; int16, uint16 and uint8 widen to float32), so one kernel serves all.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

WIDTH = 8
#: Decorator of functions that only compiled code calls; leaving out the Python entry saves compile time.
kernel = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


class VectorType(types.Type):
    """Numba type of `WIDTH` floats held in vector registers."""

    def __init__(self, element: types.Float) -> None:
        self.element = element
        super().__init__(name=f"vector{WIDTH}({element})")


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: VectorType) -> None:
        super().__init__(dmm, fe_type, _llvm(fe_type))


def _llvm(vector: VectorType) -> ir.VectorType:
    scalar = ir.DoubleType() if vector.element == types.float64 else ir.FloatType()
    return ir.VectorType(scalar, WIDTH)


def _vector_of(array: types.Array) -> VectorType | None:
    if not isinstance(array, types.Array) or array.ndim != 1:
        return None
    if array.dtype in (types.float32, types.int16, types.uint16, types.uint8):
        return VectorType(types.float32)
    return VectorType(types.float64) if array.dtype == types.float64 else None


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Pointer to ``array[index]``; no bounds check and no wrap-around of negative indices."""
    struct = context.make_array(array_type)(context, builder, array)
    return builder.gep(struct.data, [index])


@intrinsic
def load(typingctx: Any, array: Any, index: Any) -> Any:
    """Eight values of `array` from `index` on, as floats."""
    vector = _vector_of(array)
    if vector is None or not isinstance(index, types.Integer):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _load(context, builder, signature.args[0], args[0], args[1], vector)

    return vector(array, types.intp), codegen


@intrinsic
def load_as(typingctx: Any, array: Any, index: Any, like: Any) -> Any:
    """Eight values of `array` in the vector type that `load` gives for the array `like`."""
    vector = _vector_of(like)
    source = _vector_of(array)
    if vector is None or source is None:
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _load(context, builder, signature.args[0], args[0], args[1], vector)

    return vector(array, types.intp, like), codegen


def _load(context: Any, builder: Any, array: Any, value: Any, index: Any, vector: VectorType) -> Any:
    element = context.get_data_type(array.dtype)
    stored = ir.VectorType(element, WIDTH)
    pointer = _address(context, builder, array, value, index)
    result = builder.load(builder.bitcast(pointer, stored.as_pointer()))
    result.align = array.dtype.bitwidth // 8
    if array.dtype == types.int16:
        return builder.sitofp(result, _llvm(vector))
    if array.dtype in (types.uint16, types.uint8):
        return builder.uitofp(result, _llvm(vector))
    if array.dtype == types.float32 and vector.element == types.float64:
        return builder.fpext(result, _llvm(vector))
    if array.dtype == types.float64 and vector.element == types.float32:
        return builder.fptrunc(result, _llvm(vector))
    return result


@intrinsic
def store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """Write eight values to `array` from `index` on; integers take the nearest one."""
    return _store(array, value) if _vector_of(array) == value else None


@intrinsic
def store_as(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """As `store`, into an array of integers, whatever the floats of the vector are."""
    return _store(array, value) if _vector_of(array) is not None else None


def _store(array: Any, value: VectorType) -> Any:
    """Signature and code of a store of a vector."""
    size = array.dtype.bitwidth // 8

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _address(context, builder, signature.args[0], args[0], args[1])
        element = context.get_data_type(signature.args[0].dtype)
        stored = ir.VectorType(element, WIDTH)
        result = args[2]
        if isinstance(array.dtype, types.Integer):
            rounded = _call(builder, "llvm.rint", _llvm(value), [result])
            wide = builder.fptosi(rounded, ir.VectorType(ir.IntType(32), WIDTH))
            result = builder.trunc(wide, stored)
        instruction = builder.store(result, builder.bitcast(pointer, stored.as_pointer()))
        instruction.align = size
        return context.get_dummy_value()

    return types.void(array, types.intp, value), codegen


@intrinsic
def splat(typingctx: Any, array: Any, value: Any) -> Any:
    """Eight copies of `value`, in the vector type that `load` gives for `array`."""
    vector = _vector_of(array)
    if vector is None or not isinstance(value, types.Number):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        scalar = context.cast(builder, args[1], signature.args[1], vector.element)
        llvm = _llvm(vector)
        nothing, lane = ir.Constant(llvm, ir.Undefined), ir.Constant(ir.IntType(32), 0)
        first = builder.insert_element(nothing, scalar, lane)
        mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        return builder.shuffle_vector(first, nothing, mask)

    return vector(array, value), codegen


@intrinsic
def prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Bring the cache line of ``array[index]`` near, which will soon be read. The index may lie beyond the array."""
    if _vector_of(array) is None or not isinstance(index, types.Integer):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _address(context, builder, signature.args[0], args[0], args[1])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # Read, keep it in the second-level cache, data.
        builder.call(function, [builder.bitcast(pointer, byte), number(0), number(2), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


def _call(builder: Any, name: str, vector: ir.VectorType, args: list[Any]) -> Any:
    suffix = f"v{WIDTH}f64" if isinstance(vector.element, ir.DoubleType) else f"v{WIDTH}f32"
    kind = ir.FunctionType(vector, [vector] * len(args))
    function = cgutils.get_or_insert_function(builder.module, kind, f"{name}.{suffix}")
    return builder.call(function, args)


def _elementwise(emit: Callable[[Any, Any, Any], Any]) -> Any:
    """An intrinsic of two vectors of one type from an IR emitter."""

    @intrinsic
    def combine(typingctx: Any, a: Any, b: Any) -> Any:
        if not isinstance(a, VectorType) or a != b:
            return None

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return emit(builder, args[0], args[1])

        return a(a, b), codegen

    return combine


_add = _elementwise(lambda builder, a, b: builder.fadd(a, b))
_sub = _elementwise(lambda builder, a, b: builder.fsub(a, b))
_mul = _elementwise(lambda builder, a, b: builder.fmul(a, b))
_div = _elementwise(lambda builder, a, b: builder.fdiv(a, b))
largest = _elementwise(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))


@intrinsic
def fused(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, in one instruction where the machine has it."""
    if not isinstance(a, VectorType) or not a == b == c:
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, "llvm.fmuladd", _llvm(a), list(args))

    return a(a, b, c), codegen


@intrinsic
def where_positive(typingctx: Any, test: Any, yes: Any, no: Any) -> Any:
    """Lane by lane, `yes` where `test` is above zero, else `no`."""
    if not isinstance(test, VectorType) or not test == yes == no:
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zero = ir.Constant(_llvm(test), None)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], args[2])

    return test(test, yes, no), codegen


def _tree_reduce(builder: Any, vector: Any, combine: Callable[[Any, Any], Any]) -> Any:
    lanes = [builder.extract_element(vector, ir.Constant(ir.IntType(32), k)) for k in range(WIDTH)]
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [combine(lanes[k], lanes[k + half]) for k in range(half)]
    return lanes[0]


@intrinsic
def lane_sum(typingctx: Any, vector: Any) -> Any:
    """Sum of the eight lanes, in a fixed order."""
    if not isinstance(vector, VectorType):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _tree_reduce(builder, args[0], builder.fadd)

    return vector.element(vector), codegen


@intrinsic
def lane_max(typingctx: Any, vector: Any) -> Any:
    """Largest of the eight lanes."""
    if not isinstance(vector, VectorType):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _tree_reduce(
            builder, args[0], lambda a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b)
        )

    return vector.element(vector), codegen


@intrinsic
def rows_to_lanes(
    typingctx: Any, source: Any, rows: Any, first: Any, column: Any, target: Any, to: Any, step: Any
) -> Any:
    """Transpose an 8 x 8 block out of table rows.

    Row k starts at ``source[rows[first + k] + column]``; column k goes to ``target[to + k step]``.
    """
    vector = _vector_of(source)
    if vector is None or source.dtype != target.dtype:
        return None
    align = source.dtype.bitwidth // 8

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        block = []
        for pointer in _row_pointers(context, builder, kinds[:2], args[:4]):
            row = builder.load(builder.bitcast(pointer, _llvm(vector).as_pointer()))
            row.align = align
            block.append(row)
        pointer = _address(context, builder, kinds[4], args[4], args[5])
        for row in _transposed(builder, block):
            builder.store(row, builder.bitcast(pointer, _llvm(vector).as_pointer())).align = align
            pointer = builder.gep(pointer, [args[6]])
        return context.get_dummy_value()

    intp = types.intp
    return types.void(source, rows, intp, intp, target, intp, intp), codegen


def _lanes_to_rows(accumulate: bool) -> Any:
    @intrinsic
    def spread(
        typingctx: Any, source: Any, start: Any, step: Any, target: Any, rows: Any, first: Any, column: Any
    ) -> Any:
        vector = _vector_of(source)
        if vector is None or source.dtype != target.dtype:
            return None
        align = source.dtype.bitwidth // 8

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = signature.args
            block = []
            pointer = _address(context, builder, kinds[0], args[0], args[1])
            for _ in range(WIDTH):
                lanes = builder.load(builder.bitcast(pointer, _llvm(vector).as_pointer()))
                lanes.align = align
                block.append(lanes)
                pointer = builder.gep(pointer, [args[2]])
            pointers = _row_pointers(context, builder, kinds[3:5], args[3:7])
            for row, pointer in zip(_transposed(builder, block), pointers):
                place = builder.bitcast(pointer, _llvm(vector).as_pointer())
                if accumulate:
                    before = builder.load(place)
                    before.align = align
                    row = builder.fadd(before, row)
                builder.store(row, place).align = align
            return context.get_dummy_value()

        intp = types.intp
        return types.void(source, intp, intp, target, rows, intp, intp), codegen

    return spread


# Undo `rows_to_lanes`: (source, start, step, target, rows, first, column).
lanes_to_rows = _lanes_to_rows(accumulate=False)
add_lanes_to_rows = _lanes_to_rows(accumulate=True)


def _row_pointers(context: Any, builder: Any, kinds: Any, args: Any) -> list[Any]:
    """Pointers to ``table[rows[first + k] + column]`` for k of 0..7; args: table, rows, first, column."""
    table, rows, first, column = args
    pointers = []
    for k in range(WIDTH):
        index = builder.add(first, ir.Constant(first.type, k))
        offset = builder.load(_address(context, builder, kinds[1], rows, index))
        pointers.append(_address(context, builder, kinds[0], table, builder.add(offset, column)))
    return pointers


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Interleave three times: 8 rows become 8 columns."""

    def shuffle(a: Any, b: Any, mask: list[int]) -> Any:
        constant = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), mask)
        return builder.shuffle_vector(a, b, constant)

    # Pairs, then quadruples inside the 128-bit halves, then the halves: the cheap shuffles of AVX.
    low, high = [0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15]
    pairs = [shuffle(rows[2 * k], rows[2 * k + 1], mask) for k in range(4) for mask in (low, high)]
    low, high = [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]
    quads = []
    for first in (0, 4):
        for k in (0, 1):
            quads += [shuffle(pairs[first + k], pairs[first + 2 + k], mask) for mask in (low, high)]
    lower, upper = [0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]
    return [shuffle(quads[k], quads[k + 4], lower) for k in range(4)] + [
        shuffle(quads[k], quads[k + 4], upper) for k in range(4)
    ]


def _overload_operator(symbol: Callable[..., Any], function: Any) -> None:
    @overload(symbol, strict=False)
    def implement(a: Any, b: Any) -> Any:
        if isinstance(a, VectorType) and a == b:
            return lambda a, b: function(a, b)
        return None


for _symbol, _function in (
    (operator.add, _add),
    (operator.sub, _sub),
    (operator.mul, _mul),
    (operator.truediv, _div),
):
    _overload_operator(_symbol, _function)
