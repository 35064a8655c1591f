"""Colors APL in Pygments (nbconvert, Sphinx, MyST) by the tables of the kernel's own highlighting."""

import json
from pathlib import Path

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Text, Whitespace, string_to_tokentype

GRAMMAR = json.loads((Path(__file__).parent / 'lexical.json').read_text(encoding='utf-8'))
TOKENS = {name: string_to_tokentype(row['pygments']) for name, row in GRAMMAR['classes'].items()}


def rule_of(rule):
    """The rule of a RegexLexer: one that goes on to an end, or else to the end of the text, is a single expression."""
    pattern = rule['match']
    if 'end' in rule:
        pattern = rf'(?:{pattern})(?:[\s\S]*?(?:{rule["end"]})|[\s\S]*)'
    if 'is' in rule:
        return pattern, TOKENS[rule['is']]
    return pattern, bygroups(*(TOKENS.get(name, Text) for name in rule['groups']))


class AplLexer(RegexLexer):
    """APL, the Axiom Processing Language. It claims no file name: the array language has `*.apl`."""

    name = 'Axiom Processing Language'
    aliases = ['axiom-apl']
    mimetypes = ['text/x-axiom-apl']
    url = 'https://axiom.co/docs/apl/introduction'
    tokens = {'root': [(r'\s+', Whitespace), *map(rule_of, GRAMMAR['rules'])]}
