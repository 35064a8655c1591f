import type { MagicLine } from '../../apl/syntax/cell.js';
import { noCellForm, unknownMagic } from '../../apl/syntax/syntax-magic.js';
import { agentMagics } from './agents/agent-magic.js';
import { aroundMagics } from './cause/around.js';
import { patternMagics } from './cause/cause-patterns.js';
import { explainMagics } from './cause/explain.js';
import { investigateMagics } from './cause/investigate.js';
import { tailMagics } from './cause/tail.js';
import { traceMagics } from './cause/trace.js';
import { askConsent } from './effects/consent.js';
import { type AskedEffect, effectReference } from './effects/effects.js';
import { annotateMagics } from './families/annotate.js';
import { cacheMagics } from './families/cache-magics.js';
import { checkMagics } from './families/check-magics.js';
import { compareMagics } from './families/compare-magics.js';
import { kernelMagics } from './families/config.js';
import { datasetMagics } from './families/dataset-magics.js';
import { exportMagics } from './families/export.js';
import { helpMagics } from './families/help.js';
import { historyMagics } from './families/history-magics.js';
import { importMagics } from './families/import-magics.js';
import { parameterMagics } from './families/parameter-magics.js';
import { publishMagics } from './families/publish-magics.js';
import { requestMagics } from './families/request-magics.js';
import { resultMagics } from './families/result-magics.js';
import { settingMagics } from './families/setting-magics.js';
import { vizMagics } from './families/viz.js';
import type { CellHost, Magic, MagicHost } from './magic.js';
import { MagicError, parseArguments, usageError } from './magic-arguments.js';
import { magicLines, magicNamed, magicWords } from './magic-lines.js';
import { magicHelp } from './magic-reference.js';
import { loginMagics } from './profiles/login.js';
import { profileMagics } from './profiles/profiles.js';
import { starMagics } from './stars/stars.js';

/** Every magic, in help order. */
export const magics: readonly Magic[] = [
  ...settingMagics,
  ...requestMagics,
  ...parameterMagics,
  ...checkMagics,
  ...compareMagics,
  ...explainMagics,
  ...aroundMagics,
  ...patternMagics,
  ...investigateMagics,
  ...traceMagics,
  ...tailMagics,
  ...cacheMagics,
  ...agentMagics,
  ...historyMagics,
  ...profileMagics,
  ...loginMagics,
  ...datasetMagics,
  ...importMagics,
  ...publishMagics,
  ...exportMagics,
  ...resultMagics,
  ...vizMagics,
  ...annotateMagics,
  ...starMagics,
  ...kernelMagics,
  ...helpMagics,
];

/** Returns the magic of a name or alias, in any case; throws MagicError that suggests the nearest name. */
export function findMagic(name: string): Magic {
  const found = magics.find(magic => magic.name === magicNamed(name));
  if (found !== undefined) return found;
  const { message, hint } = unknownMagic(name, magicWords);
  throw new MagicError(message, hint);
}

/** Runs one magic line; throws MagicError for a usage error, and the errors of its action. */
export async function runMagic(line: MagicLine, host: CellHost): Promise<void> {
  const magic = findMagic(line.name);
  if (line.cell && magicLines[magic.name].perCell !== true) {
    throw usageError(magic, noCellForm(magic));
  }
  const given = magic.verbatim
    ? { raw: line.args, words: [], options: new Map<string, string>(), lists: new Map<string, string[]>() }
    : parseArguments(magic, line.args);
  const { session, io } = host;
  const consent: MagicHost['consent'] = async (effect, what) => {
    if (!(session.replays && ofServices.includes(effect)))
      await askConsent(session.consents, io, magic, effect, what);
  };
  await magic.run({ ...given, magic, line, cell: line.cell }, { ...host, magics, consent });
}

/** Effects on services only, which a replay does not have. */
const ofServices: readonly AskedEffect[] = ['drop', 'send'];

/** Returns the reference of all magics as Markdown. */
export function magicReference(): string {
  return magics.map(magicHelp).join('\n\n');
}

/** Returns a table of what a notebook may do and which magics do it, as Markdown. */
export function effectsReference(): string {
  return effectReference(magics);
}
