"""What `Scripts/test` does: which tests belong to which tier, how they are run, and what their results mean.

`tiers` reads `Tests/tiers.tsv`. `swift_tests` and `python_tests` run tests and return a `Case` for each, `reruns`
decides which failed ones are tried once more, `main` puts it together.
"""
