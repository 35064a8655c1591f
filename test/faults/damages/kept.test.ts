import { cpSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LoginStore } from '../../../kernel/api/login/login-store.js';
import { History } from '../../../kernel/jupyter/history.js';
import { checkData } from '../../../kernel/local/check/check.js';
import { inDataDir, type LayoutName } from '../../../kernel/local/data-layout.js';
import { ImportLog } from '../../../kernel/notebook/magics/effects/effect-imports.js';
import { QueryLog } from '../../../kernel/notebook/query/query-log.js';
import { randomOf, rounds, temporaryDirectory } from '../bench.js';
import { damagesAndEdits } from './damages.js';
import { Said } from './said.js';

/** Texts read from a file, and the message about it. */
interface Read {
  readonly found: readonly string[];
  readonly said: string;
}

/** A private file of kernels, with functions to write texts to it and to read all of them. */
interface Kept {
  readonly file: LayoutName;
  write(file: string, texts: readonly string[]): Promise<unknown>;
  read(file: string, texts: readonly string[]): Promise<Read>;
}

const texts = ['print a = 1', 'print b = "two"', 'range c from 1 to 3 step 1'];
const time = '2026-01-01T00:00:00Z';
const held = { rows: 1, firstTime: time, lastTime: time };
const server = { issuer: 'https://a.example', token_endpoint: 'https://a.example/token' };
const endpointOf = (profileName: string) => ({ profileName, url: 'https://a.example' });

const kept: Readonly<Record<string, Kept>> = {
  history: {
    file: 'history.jsonl',
    write: async (file, all) => {
      const history = new History(file, () => undefined);
      for (const [index, text] of all.entries()) history.append(index + 1, text);
    },
    read: async file => {
      const said: string[] = [];
      const history = new History(file, line => said.push(line));
      const found = history.list({ access: 'tail', n: 10 }).map(({ source }) => source);
      return { found, said: said.join(' ') };
    },
  },
  'log of queries': {
    file: 'queries.jsonl',
    write: async (file, all) => {
      const log = new QueryLog(file);
      for (const apl of all)
        await log.append({ at: time, profile: 'local', apl, startTime: time, endTime: time, elapsedMs: 1 });
    },
    read: async file => {
      const { entries, damage = '' } = await new QueryLog(file).read();
      return { found: entries.map(({ apl }) => apl), said: damage };
    },
  },
  'notes on imports': {
    file: 'imports.json',
    write: async (file, all) => {
      for (const text of all) await new ImportLog(file).note(text, `/logs/${text}`, held);
    },
    read: async (file, all) => {
      const known = await Promise.all(
        all.map(text => new ImportLog(file).isImportOf(text, `/logs/${text}`, held)),
      );
      return { found: all.filter((_, index) => known[index]), said: '' };
    },
  },
  'sign-ins': {
    file: 'logins.json',
    write: async (file, all) => {
      for (const profile of all) {
        const login = { ...endpointOf(profile), profile, server, clientId: 'c', accessToken: profile };
        await new LoginStore(file).change(
          endpointOf(profile),
          async () => login,
          new AbortController().signal,
        );
      }
    },
    read: async (file, all) => {
      const found = await Promise.all(
        all.map(profile => new LoginStore(file).find(endpointOf(profile)).catch(String)),
      );
      const said = found.find(each => typeof each === 'string') ?? '';
      return { found: found.flatMap(each => (typeof each === 'object' ? [each.accessToken] : [])), said };
    },
  },
};

/** This process can read even unreadable files. */
const kinds = Object.keys(damagesAndEdits).filter(damage => damage !== 'unreadable');

test.each(Object.entries(kept))(
  'a damaged file of %s never gives wrong data, and is named',
  async (place, { file: name, write, read }) => {
    const base = join(await temporaryDirectory(), 'data');
    await write(inDataDir(base, name), texts);
    expect(await read(inDataDir(base, name), texts)).toEqual({ found: texts, said: '' });
    const random = randomOf(place);
    const said = new Said();
    const count = rounds(`damaged files of ${place}`, kinds.length, 500);
    for (let round = 0; round < count; round++) {
      const damage = kinds[round % kinds.length] ?? '';
      const dataDir = join(await temporaryDirectory(), 'data');
      cpSync(base, dataDir, { recursive: true });
      const file = inDataDir(dataDir, name);
      damagesAndEdits[damage]?.(file, random);
      const answer = await read(file, texts).catch(error => ({ found: [], said: String(error) }));
      const reported = (await checkData(dataDir)).faults.find(each => each.file === file);
      const about = [round, damage, file];
      expect([...about, answer.found.filter(text => !texts.includes(text))]).toEqual([...about, []]);
      said.add(place, damage, outcomeOf(answer, reported?.reason, { name, file }));
    }
    said.expectKnown();
  },
);

/**
 * Returns the outcome for a file. The reader or doctor must name anything missing, unless lines end where one ended when it was
 * written.
 */
function outcomeOf(
  { found, said }: Read,
  reported: string | undefined,
  { name, file }: { readonly name: LayoutName; readonly file: string },
): string {
  if (said !== '') expect(said).toContain(file);
  const sentence = said.replaceAll(file, 'FILE').replace(/\d+ damaged lines?/, 'N damaged lines');
  const byDoctor = `doctor: FILE ${reported?.replace(/\d+ of its \d+/, 'N of its M')}`;
  const told = [...(said === '' ? [] : [sentence]), ...(reported === undefined ? [] : [byDoctor])];
  if (found.length === texts.length && told.length === 0) return 'changes nothing';
  if (found.length < texts.length && told.length === 0) {
    expect([file, name.endsWith('.jsonl') && isFile(file)]).toEqual([file, true]);
    return 'answered up to where it ends';
  }
  return `${found.length === texts.length ? 'answered whole' : 'answered without it, or a part of it'}: ${told.join('; ')}`;
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}
