import type { Command } from 'commander';
import { expect, test } from 'vitest';
import {
  allowed,
  codeView,
  daySeconds,
  lineNumber,
  pageOrigins,
  part,
  portNumber,
  seconds,
} from '../../kernel/commands/command-options.js';
import { type Actions, programOf } from '../../kernel/commands/command-program.js';

const readers = { allowed, codeView, daySeconds, lineNumber, pageOrigins, part, portNumber, seconds };

test.each<readonly [name: keyof typeof readers, text: string, value: unknown]>([
  ['portNumber', '0', 0],
  ['portNumber', '65535', 65_535],
  ['seconds', '0.5', 0.5],
  ['daySeconds', '86400', 86_400],
  ['part', '0', 0],
  ['part', '0.999', 0.999],
  ['codeView', 'show', 'show'],
  ['codeView', 'fold', 'fold'],
  ['codeView', 'hide', 'hide'],
  ['allowed', 'overwrite,drop', ['overwrite', 'drop']],
  ['pageOrigins', 'http://localhost:3000', ['http://localhost:3000']],
  ['pageOrigins', 'https://example.org', ['https://example.org']],
  ['lineNumber', '1', 1],
])('%s accepts %s', (name, text, value) => expect(readers[name](text)).toEqual(value));

test.each<readonly [name: keyof typeof readers, text: string, said: string]>([
  ['portNumber', '-1', '-1 is not a port'],
  ['portNumber', '65536', '65536 is not a port'],
  ['portNumber', '1.5', '1.5 is not a port'],
  ['seconds', '0', '0 is not a number of seconds'],
  ['seconds', 'Infinity', 'Infinity is not a number of seconds'],
  ['seconds', 'soon', 'soon is not a number of seconds'],
  ['daySeconds', '86400.5', '86400.5 seconds are more than a day'],
  ['part', '-0.1', '-0.1 is not a relative difference'],
  ['part', '1', '1 is not a relative difference'],
  ['codeView', 'shown', '--code is show, fold or hide, not shown'],
  ['allowed', 'drop,fly', 'fly is not an effect that can be allowed'],
  ['pageOrigins', 'http://localhost:3000/app', 'http://localhost:3000/app is not an origin of web pages'],
  ['pageOrigins', 'ftp://example.org', 'ftp://example.org is not an origin of web pages'],
  ['lineNumber', '0', '0 is not a line'],
  ['lineNumber', '1.5', '1.5 is not a line'],
])('%s rejects %s', (name, text, said) => expect(() => readers[name](text)).toThrow(said));

test('repeating the option for page origins adds origins', () =>
  expect(pageOrigins('http://b', ['http://a'])).toEqual(['http://a', 'http://b']));

const actions = new Proxy({}, { get: () => () => undefined }) as Actions;

const below = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(below)];

test('every command and every option has a description', () => {
  const all = below(programOf(actions, { version: '1.2.3', dataDir: '/data' }));
  const silent = all.flatMap(command => [
    ...(command.description() === '' ? [command.name()] : []),
    ...command.options
      .filter(({ description }) => description === '')
      .map(({ flags }) => `${command.name()} ${flags}`),
  ]);
  expect(all.length).toBeGreaterThan(10);
  expect(silent).toEqual([]);
});
