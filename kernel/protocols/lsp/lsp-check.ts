import {
  type CodeAction,
  CodeActionKind,
  type Diagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  type Range,
} from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { diagnose } from '../../apl/editor/check/diagnose.js';
import type { Diagnostic as Finding, Severity } from '../../apl/syntax/ast.js';
import { present } from '../../present.js';
import type { Known } from './knowledge.js';
import { codeCells, rangeOf } from './lsp-cells.js';

const severities: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  hint: DiagnosticSeverity.Hint,
};

interface Checked {
  readonly diagnostic: Diagnostic;
  /** Replacement that fixes it. */
  readonly instead: string | undefined;
}

/** Returns the diagnostics of a document, cell by cell. */
export function diagnosticsOf(document: TextDocument, known: Known): Diagnostic[] {
  return checked(document, known).map(({ diagnostic }) => diagnostic);
}

/** Returns the fixes for the diagnostics that touch a range. */
export function fixesOf(document: TextDocument, range: Range, known: Known): CodeAction[] {
  const [from, to] = [document.offsetAt(range.start), document.offsetAt(range.end)];
  return checked(document, known)
    .filter(
      ({ diagnostic: { range: at } }) =>
        document.offsetAt(at.start) <= to && from <= document.offsetAt(at.end),
    )
    .flatMap(({ diagnostic, instead }) =>
      instead === undefined
        ? []
        : [
            {
              title: instead.trim() === '' ? 'Remove' : `Write ${instead.trim()}`,
              kind: CodeActionKind.QuickFix,
              isPreferred: true,
              diagnostics: [diagnostic],
              edit: { changes: { [document.uri]: [{ range: diagnostic.range, newText: instead }] } },
            },
          ],
    );
}

function checked(document: TextDocument, { environment, magics }: Known): readonly Checked[] {
  return codeCells(document).flatMap(({ text, from }) =>
    diagnose(text, environment, magics).map(finding => ({
      diagnostic: diagnosticOf(document, finding, from),
      instead: finding.instead,
    })),
  );
}

function diagnosticOf(document: TextDocument, finding: Finding, start: number): Diagnostic {
  const { severity, code, message, hint } = finding;
  return {
    range: rangeOf(document, finding, start),
    severity: severities[severity],
    code,
    source: 'apl',
    message: hint === undefined ? message : `${message}. ${hint}`,
    ...present({ tags: code === 'unused-let' ? [DiagnosticTag.Unnecessary] : undefined }),
  };
}
