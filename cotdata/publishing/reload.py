"""Load what was published back from its tag, as a reader would, and count the rows."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping

from cotdata.errors import HubError


def check_reload(repo: str, tag: str, splits: Mapping[str, Mapping[str, int]]) -> None:
    """Every config and split by `datasets.load_dataset`, from an empty cache."""
    import datasets

    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as cache:
        for config, expected in splits.items():
            try:
                found = datasets.load_dataset(repo, config, revision=tag, cache_dir=cache)
            except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
                raise _broken(repo, tag, config, str(error)) from error
            rows = {str(split): part.num_rows for split, part in found.items()}
            if rows != dict(expected):
                raise _broken(repo, tag, config, f"it holds {rows}, sent were {dict(expected)}")


def _broken(repo: str, tag: str, config: str, why: str) -> HubError:
    return HubError(
        f"sent and tagged, but the config {config} does not load back as sent: {why}",
        where=f"hf:{repo}@{tag}",
        hint="look at the repository's card and files; the tag before this one is untouched",
    )
