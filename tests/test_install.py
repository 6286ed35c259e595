"""The program as pip installs it: away from the checkout, with its own templates, under its own name."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import CHECKOUT, Run, ladderdeck, tree
from deck_builder import NOW, Deck

pytestmark = pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed")

RUNGS = ["What is a hash join?", "When does it spill to disk?", "Who reads the plan?"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed wheel, and nothing of the checkout."""
    folder = tmp_path_factory.mktemp("install")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    wheel = ["wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", str(folder / "wheels"), str(CHECKOUT)]
    subprocess.run([*pip, *wheel], check=True, capture_output=True)
    (file,) = (folder / "wheels").iterdir()
    target = ["install", "--no-index", "--no-deps", "--target", str(folder / "site"), str(file)]
    subprocess.run([*pip, *target], check=True, capture_output=True)
    return folder / "site"


def installed(site: Path, *arguments: str, cwd: Path, script: bool = True, **environment: str) -> Run:
    """Run the installed program, by its script or with `python -m`."""
    first = [str(site / "bin" / "ladderdeck")] if script else ["-m", "ladderdeck"]
    environment = {**os.environ, "PYTHONPATH": str(site), "SOURCE_DATE_EPOCH": str(NOW), **environment}
    run = subprocess.run(
        [sys.executable, *first, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    return Run(run.returncode, run.stdout, run.stderr)


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    """Packs in a folder `notes` in somebody's home."""
    deck = Deck(tmp_path / "home" / "notes")
    deck.write("web", {"Joins": RUNGS})
    return deck


def test_what_is_in_the_wheel(site: Path) -> None:
    package = site / "ladderdeck"
    assert tree(package / "_templates") == tree(CHECKOUT / "templates")
    assert tree(package / "authoring" / "beginnings") == tree(
        CHECKOUT / "src" / "ladderdeck" / "authoring" / "beginnings"
    )
    modules = {file.relative_to(package) for file in package.rglob("*.py")}
    assert modules == {file.relative_to(CHECKOUT / "src" / "ladderdeck") for file in (CHECKOUT / "src").rglob("*.py")}
    assert {path.name.partition("-")[0] for path in site.iterdir()} == {"ladderdeck", "bin"}


@pytest.mark.parametrize("script", [True, False], ids=["ladderdeck", "python -m ladderdeck"])
def test_a_build_from_anywhere_is_the_one_of_the_checkout(site: Path, deck: Deck, tmp_path: Path, script: bool) -> None:
    notes = deck.folder
    elsewhere = tmp_path / "some where"
    elsewhere.mkdir()
    run = installed(site, "build", str(notes), cwd=elsewhere, script=script)
    assert run.code == 0, run.err
    assert run.out.startswith("dist/ladders.apkg: 5 notes in 1 deck\n")
    assert set(tree(elsewhere)) == {"dist/ladders.apkg"}
    (ledger,) = notes.rglob("ledger.json")
    ledger.unlink()
    assert ladderdeck("build", notes, "-o", tmp_path / "a.apkg", cwd=tmp_path, SOURCE_DATE_EPOCH=str(NOW)).code == 0
    assert (elsewhere / "dist" / "ladders.apkg").read_bytes() == (tmp_path / "a.apkg").read_bytes()


def test_help_and_examples_name_the_program_as_it_was_called(site: Path, tmp_path: Path) -> None:
    for script, name in [(True, "ladderdeck"), (False, "python -m ladderdeck")]:
        for command in ([], ["build"], ["add"]):
            out = installed(site, *command, "--help", cwd=tmp_path, script=script).out
            assert "build.py" not in out
            assert f"Usage: {name} " in out
            assert f"{name} " in out.partition("Example")[2]


def test_new_templates_and_preview_need_no_checkout(site: Path, tmp_path: Path) -> None:
    run = installed(site, "new", "mine", "--language", "zh", cwd=tmp_path)
    assert run.code == 0, run.err
    pack = (tmp_path / "cards" / "mine" / "SKILL.md").read_text(encoding="utf-8")
    assert "ladderdeck check" in pack
    assert "build.py" not in pack
    assert installed(site, "templates", "--export", "look", cwd=tmp_path).code == 0
    assert tree(tmp_path / "look") == tree(CHECKOUT / "templates")
    assert installed(site, "check", cwd=tmp_path).out == "1 pack: no problems\n"
    for arguments in (["preview", "-q"], ["--format", "csv", "-q"], ["-q", "--templates", "look"]):
        assert installed(site, *arguments, cwd=tmp_path) == Run(0, "", "")
    assert {"dist/preview.html", "dist/ladders.csv", "dist/ladders.apkg"} <= set(tree(tmp_path))


# Completion


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["ch"], {"check"}),
        (["--fo"], {"--format"}),
        (["build", "--te"], {"--templates"}),
        (["cards", "--te"], {"--templates"}),
        (["build", "--format", ""], {"apkg", "csv", "json"}),
        (["templates", "--"], {"--export", "--check", "--help"}),
    ],
)
def test_bash_completes_commands_options_and_values(
    site: Path, tmp_path: Path, typed: list[str], offered: set[str]
) -> None:
    words = " ".join(f"'{word}'" for word in ["ladderdeck", *typed])
    program = (
        'eval "$(_LADDERDECK_COMPLETE=bash_source ladderdeck)"\n'
        f"COMP_WORDS=({words}) COMP_CWORD={len(typed)}\n"
        '_ladderdeck_completion ladderdeck\nprintf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = os.pathsep.join([str(site / "bin"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(site)}
    run = subprocess.run(
        ["bash", "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.stderr == ""
    assert set(run.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_have_their_script(site: Path, tmp_path: Path, shell: str) -> None:
    run = installed(site, cwd=tmp_path, _LADDERDECK_COMPLETE=f"{shell}_source")
    assert run.code == 0
    assert f"_LADDERDECK_COMPLETE={shell}_complete" in run.out
