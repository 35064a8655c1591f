/** The structure of an SQL statement, as plain JSON. Names and strings are as written, keywords in lower case. */
export type SqlStatement = SqlSelect | SqlInsert | SqlUpdate | SqlDelete;

export interface SqlSelect {
  readonly statement: 'select';
  readonly distinct?: true;
  readonly columns: readonly SqlColumn[];
  readonly from?: readonly SqlTable[];
  readonly where?: SqlExpr;
  readonly group?: readonly SqlExpr[];
  readonly having?: SqlExpr;
  readonly order?: readonly SqlOrder[];
  readonly limit?: SqlExpr;
  readonly offset?: SqlExpr;
  /** `union`, `union all`, `intersect`, `except`, with the following statement. */
  readonly combine?: { readonly operator: string; readonly query: SqlSelect };
}

export interface SqlInsert {
  readonly statement: 'insert';
  readonly table: string;
  readonly columns?: readonly string[];
  readonly values?: readonly (readonly SqlExpr[])[];
  readonly query?: SqlSelect;
}

export interface SqlUpdate {
  readonly statement: 'update';
  readonly table: string;
  readonly set: readonly { readonly colname: string; readonly expr: SqlExpr }[];
  readonly where?: SqlExpr;
}

export interface SqlDelete {
  readonly statement: 'delete';
  readonly from: readonly SqlTable[];
  readonly where?: SqlExpr;
}

export type SqlColumn = SqlExpr & { readonly alias?: string };

export interface SqlTable {
  readonly table?: string;
  readonly query?: SqlSelect;
  readonly alias?: string;
  /** `join`, `left join` and so on; absent for the first table and after a comma. */
  readonly join?: string;
  readonly on?: SqlExpr;
}

export interface SqlOrder {
  readonly expr: SqlExpr;
  readonly direction: 'asc' | 'desc';
}

export type SqlExpr =
  /** `*` is the name for all columns. */
  | { readonly colname: string; readonly table?: string }
  | {
      readonly value: string;
      readonly valtype: 'integer' | 'float' | 'string' | 'bool' | 'null' | 'parameter';
    }
  /** A symbol or word with its operands; `case` has alternating conditions and results, then the default; `list` is `(a, b)`. */
  | { readonly operator: string; readonly params: readonly SqlExpr[] }
  | { readonly function: string; readonly params: readonly SqlExpr[]; readonly distinct?: true }
  | { readonly query: SqlSelect };
