import { visibleLines } from '../../../text.js';
import { describeProblem } from '../../bugreport.js';
import type { Session } from '../../session.js';
import { readSettings, SettingError, settings, settingsFile, writeSetting } from '../../settings.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { usageError } from '../magic-arguments.js';
import { say, tableOutput, textOutput } from '../output.js';

/** The magics about the kernel itself: its settings, and a problem report. */
export const kernelMagics: readonly Magic[] = [
  {
    name: 'config',
    usage: '%config [NAME [VALUE]] [--project] [--clear]',
    options: [
      { name: 'project', summary: 'write to the project file instead of the user file' },
      { name: 'clear', summary: 'remove the setting from the file' },
    ],
    summary: 'show the settings, or change one for all notebooks from now on',
    help: [
      'Settings are stored in `~/.apl-kernel.toml`, and for a project in `.apl-kernel.toml` next to its notebooks. Settings in a notebook take precedence, then the project file, then the user file. The files are read when a kernel starts.',
      '',
      ...settings.map(({ name, summary, standard }) => `- \`${name}\`: ${summary} (default: ${standard})`),
      '',
      'No setting selects a profile, so a file that comes with a project cannot send queries anywhere. Tokens do not belong here.',
      '',
      '    %config limit 5000',
      '    %config time "last 1d" --project',
    ].join('\n'),
    arity: [0, 2],
    effects: ['config'],
    run: config,
  },
  {
    name: 'bugreport',
    usage: '%bugreport [--queries]',
    options: [
      {
        name: 'queries',
        summary:
          'include the shape of the last queries: their operators and functions, without names and values',
      },
    ],
    summary: 'show the details to send with a bug report',
    help: 'Shows versions, platform, settings, the kind of the profile, and the code of the last error without its text, names and values. Contains no tokens, addresses, queries or data; read it before you send it.',
    arity: [0, 0],
    effects: [],
    run: bugreport,
  },
];

async function config({ words, options, magic }: MagicCall, host: MagicHost): Promise<void> {
  const { session, io } = host;
  const [name, value] = words;
  if (name === undefined) return list(host);
  const setting = settings.find(each => each.name === name);
  if (setting === undefined)
    throw usageError(
      magic,
      `there is no setting ${name}; the settings are ${settings.map(each => each.name).join(', ')}`,
    );
  if (options.has('clear') === (value !== undefined))
    throw usageError(magic, `give ${name} a value, or --clear`);
  const place = options.has('project') ? 'project' : 'user';
  const whose = place === 'user' ? 'all of your notebooks' : 'all notebooks in its directory';
  await host.consent('config', `change the setting ${name} for ${whose}`);
  if (value !== undefined) setting.apply(session, value);
  await writeSetting(settingsFile(session.options, place), name, value);
  const what = value === undefined ? 'is no longer set' : `is ${visibleLines(value)} from now on`;
  say(io, `${name} ${what}, in ${shownFile(session, place)}`);
}

function shownFile({ options }: Pick<Session, 'options'>, place: 'user' | 'project'): string {
  return place === 'user'
    ? '~/.apl-kernel.toml'
    : settingsFile(options, place).replace(`${options.workDir}/`, '');
}

async function list({ session, io }: MagicHost): Promise<void> {
  const found = await readSettings(session.options).catch(error => {
    if (!(error instanceof SettingError)) throw error;
    io.stream('stderr', `${visibleLines(error.message)}\n`);
    return new Map<string, never>();
  });
  const rows = settings.map(({ name, standard, summary }) => {
    const set = found.get(name);
    return [
      name,
      set?.value ?? standard,
      set === undefined ? 'default' : shownFile(session, set.place),
      summary,
    ];
  });
  io.display(tableOutput(['setting', 'value', 'from', 'description'], rows, 'Settings'));
}

async function bugreport({ options }: MagicCall, { session, io }: MagicHost): Promise<void> {
  io.display(textOutput(await describeProblem(session, options.has('queries'))));
}
