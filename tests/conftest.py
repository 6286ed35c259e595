"""What holds for all tests: Hypothesis without surprises, and a temporary folder of the run's own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "local")


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """genanki leaves a file behind on each write; this way all of them go with the run."""
    folder = tmp_path_factory.mktemp("tmp")
    before = tempfile.tempdir
    tempfile.tempdir = str(folder)
    yield
    tempfile.tempdir = before


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the commands keep for their next run stays out of the user's folders, and goes with the run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LADDERDECK_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
