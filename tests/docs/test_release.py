"""What is published: the wheel and the sdist, each installed in a clean environment."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import contextwright
from paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
UV = os.environ.get("UV") or shutil.which("uv")


def test_versions_agree() -> None:
    version = PROJECT["version"]
    assert contextwright.__version__ == version
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [version]
    first = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[0]
    assert first in (version, "Unreleased")


def test_python_versions_agree() -> None:
    classifiers = re.findall(r":: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    assert tuple(classifiers) == VERSIONS
    assert all(f'"{version}"' in workflow for version in VERSIONS)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if UV is None:
        pytest.skip("uv is not installed")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([UV, "build", "--quiet", "--out-dir", folder, ROOT], check=True)
    return folder


@pytest.mark.slow
def test_the_packages_hold_what_they_must(built: Path) -> None:
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"contextwright/py.typed", "contextwright/data/models.toml"} <= set(names)
    assert all(name.startswith("contextwright") for name in names)
    inside = {name.partition("/")[2] for name in tarfile.open(sdist).getnames()}
    assert {"CITATION.cff", "LICENSE", "NOTICE", "SECURITY.md", "tests/conftest.py"} <= inside


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_package_installs_and_runs(
    version: str, kind: str, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert UV is not None
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    roots = [Path(sys.base_prefix), *Path(sys.base_prefix).parent.glob(f"{version}.*")]
    found = [root / "bin" / f"python{version}" for root in roots]
    python = next((path for path in found if path.exists()), shutil.which(f"python{version}"))
    if python is None or subprocess.run([python, "-V"], capture_output=True).returncode:
        pytest.skip(f"Python {version} is not installed")
    place = tmp_path / "clean"
    subprocess.run([UV, "venv", "--quiet", "--python", python, place], check=True)
    (package,) = built.glob(kind)
    install = [UV, "pip", "install", "--quiet", "--python", place / "bin" / "python", package]
    subprocess.run(install, check=True)
    done = subprocess.run(
        [place / "bin" / "cw", "demo", "--json"], capture_output=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
