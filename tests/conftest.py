"""What all tests share: the data beside the repository, and calm property tests."""

from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(__file__).parents[2] / "shared"

# A busy machine is no failure: no property test has a time limit of its own.
settings.register_profile("calm", deadline=None)
settings.load_profile("calm")


def _folder(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"shared/{name} is not beside the repository")
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    return _folder("data")


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    return _folder("cases")
