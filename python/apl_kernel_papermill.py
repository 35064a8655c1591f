"""Lets papermill set parameters of APL notebooks: it injects `%param NAME = LITERAL` lines, which hold for the notebook."""

import json
import math
import re

from papermill.engines import NBClientEngine
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators


class AplTranslator(Translator):
    """Translates Python values to APL literals."""

    @classmethod
    def translate_str(cls, val):
        return json.dumps(val, ensure_ascii=False)

    @classmethod
    def translate_none(cls, val):
        return 'dynamic(null)'

    @classmethod
    def translate_float(cls, val):
        if not math.isfinite(val):
            raise ValueError(f'APL has no literal for {val}')
        text = repr(val)
        return text if '.' in text or 'e' in text else f'{text}.0'

    @classmethod
    def translate_dict(cls, val):
        return f'dynamic({json.dumps(val, ensure_ascii=False, default=str)})'

    @classmethod
    def translate_list(cls, val):
        return f'dynamic({json.dumps(list(val), ensure_ascii=False, default=str)})'

    translate_tuple = translate_list

    @classmethod
    def comment(cls, cmt_str):
        return f'// {cmt_str}'.strip()

    @classmethod
    def assign(cls, name, str_val):
        return f'%param {name} = {str_val}'

    @classmethod
    def inspect(cls, parameters_cell):
        """The parameters of a cell, for `papermill --help-notebook` and its warning about names that the notebook does not have."""
        source = parameters_cell['source']
        given = [each for line in PARAM_LINE.findall(source) for each in in_param_line(line)]
        declared = [each for start in DECLARATION.finditer(source) for each in in_declaration(source[start.end() :])]
        return given + declared


PARAM_LINE = re.compile(r'^[ \t]*%param[ \t]+(.+)$', re.MULTILINE | re.IGNORECASE)
DECLARATION = re.compile(r'\bdeclare\s+query_parameters\s*(?=\()')
TOKEN = re.compile(
    r'''@?"(?:\\.|[^"\\])*"|@?'(?:\\.|[^'\\])*'|\s--(?:choices|prompt)\b|[\w.]+|[<>!=]=|\S''',
    re.DOTALL,
)
TYPES = (
    ('string', r'''@?["\']'''),
    ('datetime', r'datetime\b'),
    ('timespan', r'(?:timespan|time)\s*\(|-?\d[\d.]*(?:d|h|m|s|ms|microsecond|tick)\b'),
    ('table', r'datatable\b'),
    ('dynamic', r'dynamic\b|[\[{]'),
    ('bool', r'(?:true|false)\b'),
    ('real', r'-?\d*\.\d|-?\d+e|real\b'),
    ('long', r'-?\d'),
)


def outermost(text):
    """The tokens outside of brackets, each with its place; ends where a bracket that the text does not open is closed."""
    depth = 0
    for token in TOKEN.finditer(text):
        depth -= token.group() in ')]}'
        if depth < 0:
            return
        if depth == 0:
            yield token
        depth += token.group() in '([{'


def in_param_line(line):
    tokens = list(outermost(line))
    options = [token for token in tokens if token.group().strip() in ('--choices', '--prompt')]
    end = options[0].start() if options else len(line)
    choices = [line[token.end() :].strip() for token in options if token.group().strip() == '--choices']
    about = f'one of {choices[0]}' if choices else ''
    starts = [
        (name, equals)
        for name, equals in zip(tokens, tokens[1:])
        if equals.group() == '=' and name.group().isidentifier() and name.start() < end
    ]
    if not starts and tokens and tokens[0].group().isidentifier():
        yield Parameter(tokens[0].group(), 'None', 'None', about)
    ends = [name.start() for name, _ in starts[1:]] + [end]
    for (name, equals), to in zip(starts, ends):
        value = line[equals.end() : to].strip().rstrip(',').rstrip()
        yield Parameter(name.group(), type_of(value), value, about)


def in_declaration(text):
    """Reads `(name: type = value, …)`."""
    inner = text[text.index('(') + 1 :]
    commas, end = [], len(inner)
    for token in outermost(inner):
        end = token.end()
        commas += [token.start()] if token.group() == ',' else []
    closed = inner.find(')', end)
    for start, to in zip([0, *(comma + 1 for comma in commas)], [*commas, closed if closed >= 0 else end]):
        read = re.match(r'\s*(\w+)\s*:\s*(\w+)\s*(?:=\s*(.*))?$', inner[start:to].strip(), re.DOTALL)
        if read:
            yield Parameter(read[1], read[2], (read[3] or 'None').strip(), '')


def type_of(literal):
    """The type of a literal; `None` is papermill's word for one that is not known."""
    return next((name for name, begins in TYPES if re.match(begins, literal)), 'None')


for name in ('apl', 'axiom-apl'):
    papermill_translators.register(name, AplTranslator)


class AplEngine(NBClientEngine):
    """Papermill's own engine: papermill loads the entry points of engines at its start, and so registers the translator."""
