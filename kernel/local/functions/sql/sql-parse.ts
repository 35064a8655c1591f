import { present } from '../../../present.js';
import { type SqlToken, sqlTokens } from './sql-lexer.js';
import type {
  SqlColumn,
  SqlDelete,
  SqlExpr,
  SqlInsert,
  SqlOrder,
  SqlSelect,
  SqlStatement,
  SqlTable,
  SqlUpdate,
} from './sql-model.js';

/** Parses one SQL statement and returns its structure as JSON; null if unreadable. */
export function parseSql(text: string): string | null {
  const tokens = sqlTokens(text);
  if (tokens === undefined) return null;
  try {
    return JSON.stringify(new SqlReader(tokens).whole());
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
}

class Unreadable extends Error {}

const deepest = 200;

const comparisons = ['=', '<>', '!=', '<=', '>=', '<', '>'];

/** Words that end a name or an alias. */
const reserved = new Set(
  (
    'select from where group having order limit offset union intersect except on join inner left right full cross outer ' +
    'set values and or not as asc desc is in like ilike between case when then else end using returning'
  ).split(' '),
);

/** Parses statements by recursive descent. Throws {@link Unreadable}. */
class SqlReader {
  readonly #tokens: readonly SqlToken[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly SqlToken[]) {
    this.#tokens = tokens;
  }

  whole(): SqlStatement {
    const statement = this.#statement();
    this.#sign(';');
    return this.#token.kind === 'end' ? statement : this.#fail();
  }

  #statement(): SqlStatement {
    if (this.#words('insert', 'into')) return this.#insert();
    if (this.#words('update')) return this.#update();
    if (this.#words('delete', 'from')) return this.#delete();
    return this.#select();
  }

  #select(): SqlSelect {
    this.#needWord('select');
    return present({
      statement: 'select' as const,
      distinct: this.#words('distinct') || undefined,
      columns: this.#list(() => this.#column()),
      from: this.#words('from') ? this.#tables() : undefined,
      where: this.#clause('where'),
      group: this.#words('group', 'by') ? this.#list(() => this.#expression()) : undefined,
      having: this.#clause('having'),
      combine: this.#combine(),
      order: this.#words('order', 'by') ? this.#list(() => this.#order()) : undefined,
      limit: this.#clause('limit'),
      offset: this.#clause('offset'),
    });
  }

  #insert(): SqlInsert {
    const table = this.#tableName();
    const columns = this.#sign('(') ? this.#closed(() => this.#list(() => this.#name())) : undefined;
    if (!this.#words('values'))
      return present({ statement: 'insert' as const, table, columns, query: this.#select() });
    const values = this.#list(() => {
      this.#needSign('(');
      return this.#closed(() => this.#list(() => this.#expression()));
    });
    return present({ statement: 'insert' as const, table, columns, values });
  }

  #update(): SqlUpdate {
    const table = this.#tableName();
    this.#needWord('set');
    const set = this.#list(() => {
      const colname = this.#name();
      this.#needSign('=');
      return { colname, expr: this.#expression() };
    });
    return present({ statement: 'update' as const, table, set, where: this.#clause('where') });
  }

  #delete(): SqlDelete {
    return present({ statement: 'delete' as const, from: this.#tables(), where: this.#clause('where') });
  }

  #clause(word: string): SqlExpr | undefined {
    return this.#words(word) ? this.#expression() : undefined;
  }

  #combine(): SqlSelect['combine'] {
    for (const operator of ['union', 'intersect', 'except']) {
      if (this.#words(operator)) {
        const all = this.#words('all') ? ' all' : '';
        return { operator: operator + all, query: this.#nested(() => this.#select()) };
      }
    }
    return undefined;
  }

  #column(): SqlColumn {
    const expr = this.#expression();
    return present({ ...expr, alias: this.#alias() });
  }

  #order(): SqlOrder {
    const expr = this.#expression();
    const descending = this.#words('desc');
    if (!descending) this.#words('asc');
    return { expr, direction: descending ? 'desc' : 'asc' };
  }

  #tables(): readonly SqlTable[] {
    const tables = [this.#table()];
    for (;;) {
      if (this.#sign(',')) tables.push(this.#table());
      else {
        const join = this.#join();
        if (join === undefined) return tables;
        tables.push(present({ ...this.#table(), join, on: this.#clause('on') }));
      }
    }
  }

  #table(): SqlTable {
    if (!this.#sign('(')) return present({ table: this.#tableName(), alias: this.#alias() });
    const query = this.#closed(() => this.#select());
    return present({ query, alias: this.#alias() });
  }

  #join(): string | undefined {
    if (this.#words('join') || this.#words('inner', 'join')) return 'join';
    if (this.#words('cross', 'join')) return 'cross join';
    for (const side of ['left', 'right', 'full']) {
      if (this.#words(side, 'join') || this.#words(side, 'outer', 'join')) return `${side} join`;
    }
    return undefined;
  }

  #alias(): string | undefined {
    if (this.#words('as')) return this.#name();
    const { kind, text } = this.#token;
    return kind === 'name' || (kind === 'word' && !reserved.has(text.toLowerCase()))
      ? this.#name()
      : undefined;
  }

  #expression(): SqlExpr {
    return this.#nested(() => this.#chain(['or'], () => this.#chain(['and'], () => this.#negation())));
  }

  #negation(): SqlExpr {
    return this.#words('not')
      ? { operator: 'not', params: [this.#nested(() => this.#negation())] }
      : this.#comparison();
  }

  #comparison(): SqlExpr {
    const left = this.#sum();
    const operator = comparisons.find(sign => this.#sign(sign));
    if (operator !== undefined) return { operator, params: [left, this.#sum()] };
    if (this.#words('is')) return this.#isTest(left);
    const negation = this.#words('not') ? 'not ' : '';
    for (const word of ['like', 'ilike']) {
      if (this.#words(word)) return { operator: negation + word, params: [left, this.#sum()] };
    }
    if (this.#words('between')) {
      const low = this.#sum();
      this.#needWord('and');
      return { operator: `${negation}between`, params: [left, low, this.#sum()] };
    }
    if (this.#words('in')) return { operator: `${negation}in`, params: [left, this.#inList()] };
    return negation === '' ? left : this.#fail();
  }

  #isTest(left: SqlExpr): SqlExpr {
    const operator = this.#words('not') ? 'is not' : 'is';
    return { operator, params: [left, this.#primary()] };
  }

  #inList(): SqlExpr {
    this.#needSign('(');
    return this.#closed(() =>
      this.#isWord('select')
        ? { query: this.#select() }
        : { operator: 'list', params: this.#list(() => this.#expression()) },
    );
  }

  #sum(): SqlExpr {
    return this.#chain(['+', '-', '||'], () => this.#chain(['*', '/', '%'], () => this.#unary()));
  }

  /** Parses operands joined by operators of one rank, left-associative. */
  #chain(operators: readonly string[], operand: () => SqlExpr): SqlExpr {
    let left = operand();
    for (;;) {
      const operator = operators.find(each => this.#sign(each) || this.#words(each));
      if (operator === undefined) return left;
      left = { operator, params: [left, operand()] };
    }
  }

  #unary(): SqlExpr {
    return this.#sign('-') ? { operator: '-', params: [this.#nested(() => this.#unary())] } : this.#primary();
  }

  #primary(): SqlExpr {
    const { kind, text } = this.#token;
    if (kind === 'number') return this.#value(/^\d+$/.test(text) ? 'integer' : 'float');
    if (kind === 'string' || kind === 'parameter') return this.#value(kind);
    if (this.#isWord('true') || this.#isWord('false')) return this.#value('bool');
    if (this.#isWord('null')) return this.#value('null');
    if (this.#words('case')) return this.#case();
    if (this.#words('exists')) return { operator: 'exists', params: [this.#primary()] };
    if (this.#sign('*')) return { colname: '*' };
    if (!this.#sign('(')) return this.#reference();
    return this.#closed(() => (this.#isWord('select') ? { query: this.#select() } : this.#expression()));
  }

  #value(valtype: 'integer' | 'float' | 'string' | 'bool' | 'null' | 'parameter'): SqlExpr {
    const { text } = this.#next();
    return { value: valtype === 'bool' || valtype === 'null' ? text.toLowerCase() : text, valtype };
  }

  #case(): SqlExpr {
    const params: SqlExpr[] = [];
    if (!this.#isWord('when')) this.#fail();
    while (this.#words('when')) {
      params.push(this.#expression());
      this.#needWord('then');
      params.push(this.#expression());
    }
    if (this.#words('else')) params.push(this.#expression());
    this.#needWord('end');
    return { operator: 'case', params };
  }

  #reference(): SqlExpr {
    const path = [this.#name()];
    while (this.#sign('.')) path.push(this.#sign('*') ? '*' : this.#name());
    if (!this.#sign('(')) {
      return present({
        colname: path.at(-1) ?? '',
        table: path.length > 1 ? path.slice(0, -1).join('.') : undefined,
      });
    }
    const distinct = this.#words('distinct') || undefined;
    const params = this.#sign(')') ? [] : this.#closed(() => this.#list(() => this.#expression()));
    return present({ function: path.join('.').toLowerCase(), params, distinct });
  }

  #tableName(): string {
    const path = [this.#name()];
    while (this.#sign('.')) path.push(this.#name());
    return path.join('.');
  }

  #name(): string {
    const { kind, text } = this.#token;
    if (kind !== 'name' && (kind !== 'word' || reserved.has(text.toLowerCase()))) this.#fail();
    return this.#next().text;
  }

  #list<Item>(item: () => Item): readonly Item[] {
    const items = [item()];
    while (this.#sign(',')) items.push(item());
    return items;
  }

  #closed<Inner>(read: () => Inner): Inner {
    const inner = this.#nested(read);
    this.#needSign(')');
    return inner;
  }

  #nested<Inner>(read: () => Inner): Inner {
    if (++this.#depth > deepest) this.#fail();
    const inner = read();
    this.#depth--;
    return inner;
  }

  get #token(): SqlToken {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '' };
  }

  #next(): SqlToken {
    const token = this.#token;
    this.#at++;
    return token;
  }

  #isWord(word: string, offset = 0): boolean {
    const token = this.#tokens[this.#at + offset];
    return token?.kind === 'word' && token.text.toLowerCase() === word;
  }

  #words(...words: readonly string[]): boolean {
    const found = words.every((word, offset) => this.#isWord(word, offset));
    if (found) this.#at += words.length;
    return found;
  }

  #sign(text: string): boolean {
    const found = this.#token.kind === 'sign' && this.#token.text === text;
    if (found) this.#at++;
    return found;
  }

  #needWord(word: string): void {
    if (!this.#words(word)) this.#fail();
  }

  #needSign(text: string): void {
    if (!this.#sign(text)) this.#fail();
  }

  #fail(): never {
    throw new Unreadable();
  }
}
