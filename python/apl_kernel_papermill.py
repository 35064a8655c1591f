"""Lets papermill set parameters of APL notebooks: it injects `%param NAME = LITERAL` lines, which hold for the notebook."""

import json
import math

from papermill.engines import NBClientEngine
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


for name in ('apl', 'axiom-apl'):
    papermill_translators.register(name, AplTranslator)


class AplEngine(NBClientEngine):
    """Papermill's own engine: papermill loads the entry points of engines at its start, and so registers the translator."""
