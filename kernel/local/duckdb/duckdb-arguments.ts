import { type Atom, atom } from '../sql/atom.js';
import type { SqlArg } from '../sql/sql-template.js';
import { lengthTest, mayFail } from './bounds/lengths.js';

type Mapped<Args extends readonly SqlArg[], Value> = { readonly [Index in keyof Args]: Value };
type Body<Args extends readonly SqlArg[]> = (...sqls: Mapped<Args, Atom>) => string;

/** Maps a tuple to a tuple of the same length. */
function mapped<const Args extends readonly SqlArg[], Value>(
  args: Args,
  change: (arg: SqlArg, index: number) => Value,
): Mapped<Args, Value> {
  return args.map(change) as unknown as Mapped<Args, Value>;
}

/**
 * Returns the SQL of a body that uses its arguments several times. Columns and short pure expressions are repeated as written. If any
 * argument is long or random, all are computed once per row and passed by name, which keeps nested calls from growing exponentially and a
 * random value the same wherever it is used.
 */
export function computeOnce<const Args extends readonly SqlArg[]>(args: Args, body: Body<Args>): Atom {
  return args.every(arg => isCheap(arg))
    ? atom(body(...mapped(args, arg => arg.sql)))
    : computeFirst(args, body);
}

/** Like {@link computeOnce}, but always computes the arguments first, for bodies that read them again for every list element. */
export function computeFirst<const Args extends readonly SqlArg[]>(args: Args, body: Body<Args>): Atom {
  const members = args.map((arg, index) => `'a${index}': ${arg.sql}`);
  return boundSql(members, body(...mapped(args, (_, index) => atom(`v.a${index}`))));
}

/**
 * Returns the SQL of a body whose macros may read its arguments several times. Arguments that contain macros are computed first, or each
 * level of nesting would multiply the size of the query. So are those that may fail or contain a query if the body has a TRY, which does
 * not allow them.
 */
export function computeHeavyFirst<const Args extends readonly SqlArg[]>(
  args: Args,
  body: (args: Mapped<Args, SqlArg>) => string,
): Atom {
  const given = mapped(args, arg => arg);
  const tries = args.some(mayRaise) && body(given).includes('TRY(');
  const heavy = args.filter(arg => isHeavy(arg) || (tries && mayRaise(arg)));
  if (heavy.length === 0) return atom(body(given));
  const members = heavy.map((arg, index) => `'a${index}': ${arg.sql}`);
  const named = mapped(args, arg =>
    heavy.includes(arg) ? computed(arg, atom(`v.a${heavy.indexOf(arg)}`)) : arg,
  );
  return boundSql(members, body(named));
}

/** Returns the argument under a new name, without its other forms, which would compute it again. */
function computed(
  { text: _, list: __, json: ___, raw: ____, written: _____, ...arg }: SqlArg,
  sql: Atom,
): SqlArg {
  return { ...arg, sql, computed: true };
}

/** Returns a body that reads values, computed once, as the members of `v`. */
function boundSql(members: readonly string[], body: string): Atom {
  return atom(`list_transform([{${members.join(', ')}}], lambda v: ${body})[1]`);
}

const longestRepeated = 60;
const longestNested = 300;

function isHeavy({ sql, constant, computed }: SqlArg): boolean {
  if (constant !== undefined || computed === true) return false;
  if (sql.length > longestNested || sql.includes('random()')) return true;
  const macros = sql.replaceAll(`${lengthTest}(`, '');
  return macros.indexOf('apl_') !== macros.lastIndexOf('apl_');
}

function mayRaise({ sql, constant, computed }: SqlArg): boolean {
  return constant === undefined && computed !== true && (mayFail(sql) || sql.includes('SELECT '));
}

/** Returns whether a value may be computed repeatedly: it is pure, and its SQL is short. */
export function isCheap(
  { sql, constant }: SqlArg,
  { longest = longestRepeated }: { readonly longest?: number } = {},
): boolean {
  return constant !== undefined || (sql.length <= longest && !sql.includes('random()'));
}
