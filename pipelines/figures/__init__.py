"""Pictures for people: charts and plots."""
