"""The Pygments lexer gives each token the same class as JupyterLab's highlighter."""

import importlib.util
import json
import shutil
import subprocess

import pytest
from conftest import ROOT
from pygments.token import Error, string_to_tokentype


@pytest.fixture(scope="module")
def given():
    command = ["node", "--import", "tsx", "test/python/tokens.ts"]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8").stdout)


@pytest.fixture(scope="module")
def lexer(given, tmp_path_factory):
    """Loads the module next to its grammar, as in the wheel."""
    folder = tmp_path_factory.mktemp("lexer")
    path = folder / "pygments_lexer.py"
    shutil.copy(ROOT / "python" / "apl_kernel" / path.name, path)
    (folder / "lexical.json").write_text(json.dumps(given["grammar"]), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("pygments_lexer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.AplLexer()


def differences(lexer, text, tokens):
    # JavaScript offsets count characters beyond the BMP twice.
    assert all(ord(character) < 0x10000 for character in text)
    found = [None] * len(text)
    for at, kind, value in lexer.get_tokens_unprocessed(text):
        found[at : at + len(value)] = [kind] * len(value)
    return [
        f"{text[start:end]}: {name}, not {[str(kind) for kind in others]}"
        for start, end, name, kind in tokens
        if (others := {each for each in found[start:end] if each is not string_to_tokentype(kind)})
    ]


def test_matches_the_highlighter_in_example_notebooks(given, lexer):
    assert len(given["examples"]) > 50
    for example in given["examples"]:
        assert differences(lexer, **example) == []
        assert all(kind is not Error for kind, _ in lexer.get_tokens(example["text"]))


def test_matches_the_highlighter_in_the_catalog(given, lexer):
    found = [line for example in given["catalog"] for line in differences(lexer, **example)]
    # Telling apart a name that is a keyword elsewhere, or an operator after a bracket, takes a parser.
    assert found == ["top: keyword, not ['Token.Name']", "limit: name, not ['Token.Keyword']"]


def test_multiline_strings_end_at_their_closing_quotes(lexer):
    kinds = [(str(kind), value) for kind, value in lexer.get_tokens("a = ```one\ntwo``` | count")]
    assert ("Token.Literal.String", "```one\ntwo```") in kinds
    assert kinds[-2] == ("Token.Keyword", "count")
