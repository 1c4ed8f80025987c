"""Assertions of the modules that the suites share are explained like those of test modules."""

import pytest

pytest.register_assert_rewrite("switchboard_tests")
