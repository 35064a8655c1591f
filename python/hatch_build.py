"""Names the platform of a wheel, whose files are machine code for it and no Python extension."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformTag(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data['pure_python'] = False
        build_data['tag'] = os.environ['WHEEL_TAG']
