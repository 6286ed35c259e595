"""The benchmarks: what the exporter costs, beside genanki, beside the plain floor, and beside its peers.

Run them with `make bench`; docs/performance.md says what each row is. Nothing here is a test, and no test looks at a time.
"""
