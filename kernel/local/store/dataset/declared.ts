import { randomBytes } from 'node:crypto';
import { LocalError } from '../../local-errors.js';
import type { DatasetStore } from '../datasets.js';
import type { DatasetNote, VirtualFieldNote } from './stored.js';

/** A virtual field as returned by the API. */
export interface StoredVirtualField extends VirtualFieldNote {
  readonly id: string;
  readonly dataset: string;
}

/** Declarations about fields that are not in the files of a dataset: map fields and virtual fields. */
export class DeclaredFields {
  readonly #datasets: DatasetStore;

  constructor(datasets: DatasetStore) {
    this.#datasets = datasets;
  }

  /** Returns the declared map fields, then those found in events. Throws LocalError (`not-found`). */
  async mapFields(dataset: string): Promise<readonly string[]> {
    const { mapFields = [] } = await this.#datasets.note(dataset);
    const found = (await this.#datasets.fields(dataset)).flatMap(({ name, type }) =>
      type === 'dynamic' ? [name] : [],
    );
    return [...new Set([...mapFields, ...found])];
  }

  /** Declares another map field. Throws LocalError (`conflict`) if it is declared already. */
  async addMapField(dataset: string, name: string): Promise<void> {
    await this.#datasets.changeNote(dataset, before => {
      const { mapFields = [] } = before;
      if (mapFields.includes(name))
        throw refused('conflict', 'exists', `\`${name}\` is already a map field.`);
      return { ...before, mapFields: [...mapFields, name] };
    });
  }

  /** Declares exactly these map fields. */
  async setMapFields(dataset: string, mapFields: readonly string[]): Promise<void> {
    await this.#datasets.changeNote(dataset, before => ({ ...before, mapFields }));
  }

  /** Removes a map field declaration. Throws LocalError (`not-found`) if there is none. */
  async removeMapField(dataset: string, name: string): Promise<void> {
    await this.#datasets.changeNote(dataset, before => {
      const { mapFields = [] } = before;
      if (!mapFields.includes(name))
        throw refused('not-found', 'field-not-found', `\`${name}\` is not declared as a map field.`);
      return { ...before, mapFields: mapFields.filter(each => each !== name) };
    });
  }

  /** Returns the virtual fields of a dataset. Throws LocalError (`not-found`) if the dataset does not exist. */
  async virtualFields(dataset: string): Promise<readonly StoredVirtualField[]> {
    const { virtualFields = {} } = await this.#datasets.note(dataset);
    return Object.entries(virtualFields).map(([key, note]) => shown(dataset, key, note));
  }

  /** Returns a virtual field. Throws LocalError (`not-found`) if it does not exist. */
  async virtualField(id: string): Promise<StoredVirtualField> {
    const [dataset, key] = placeOf(id);
    const { virtualFields = {} } = await this.#datasets.note(dataset).catch(nothingOfNone);
    return shown(dataset, key, existing(virtualFields[key], id));
  }

  /** Stores a virtual field under a new id. Throws LocalError (`conflict`) if the dataset has one with that name. */
  async addVirtualField(dataset: string, note: VirtualFieldNote): Promise<StoredVirtualField> {
    const key = randomBytes(6).toString('hex');
    await this.#put(dataset, key, note);
    return shown(dataset, key, note);
  }

  /** Replaces a virtual field. Throws LocalError (`not-found`, or `conflict` if the name is taken). */
  async replaceVirtualField(id: string, note: VirtualFieldNote): Promise<StoredVirtualField> {
    const { dataset } = await this.virtualField(id);
    const [, key] = placeOf(id);
    await this.#put(dataset, key, note);
    return shown(dataset, key, note);
  }

  /** Deletes a virtual field. Throws LocalError (`not-found`) if it does not exist. */
  async removeVirtualField(id: string): Promise<void> {
    const { dataset } = await this.virtualField(id);
    const [, key] = placeOf(id);
    await this.#datasets.changeNote(dataset, before => {
      const { [key]: _, ...virtualFields } = before.virtualFields ?? {};
      return { ...before, virtualFields };
    });
  }

  async #put(dataset: string, key: string, note: VirtualFieldNote): Promise<void> {
    await this.#datasets.changeNote(dataset, before => {
      const { virtualFields = {} } = before;
      const isTaken = Object.entries(virtualFields).some(
        ([other, { name }]) => other !== key && name === note.name,
      );
      if (isTaken)
        throw refused('conflict', 'exists', `\`${dataset}\` already has a virtual field \`${note.name}\`.`);
      return { ...before, virtualFields: { ...virtualFields, [key]: note } };
    });
  }
}

/** Splits an id into dataset and key; a key contains no dot. */
function placeOf(id: string): readonly [dataset: string, key: string] {
  const dot = id.lastIndexOf('.');
  return [id.slice(0, Math.max(dot, 0)), id.slice(dot + 1)];
}

function shown(dataset: string, key: string, note: VirtualFieldNote): StoredVirtualField {
  return { id: `${dataset}.${key}`, dataset, ...note };
}

/** Returns an empty note for a dataset that does not exist; rethrows any other error. */
function nothingOfNone(error: unknown): DatasetNote {
  if (error instanceof LocalError && error.kind === 'not-found') return {};
  throw error;
}

function existing(note: VirtualFieldNote | undefined, id: string): VirtualFieldNote {
  if (note !== undefined) return note;
  throw refused('not-found', 'not-found', `There is no virtual field ${JSON.stringify(id)}.`);
}

function refused(...about: ConstructorParameters<typeof LocalError>): LocalError {
  return new LocalError(...about);
}
