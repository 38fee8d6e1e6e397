import {
  isArrowFunction,
  isBinaryExpression,
  isConditionalExpression,
  isExpressionStatement,
  isForStatement,
  isFunctionDeclaration,
  isFunctionExpression,
  isIfStatement,
  isImportDeclaration,
  isMethodDeclaration,
  isNumericLiteral,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isTypeNode,
  isWhileStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { applyMutant, type Replacement } from './apply-mutant.ts';

/** One change of one file. `change` and `lineText` identify it for a reader and in the list of equivalent mutants. */
export type Mutant = Replacement & { file: string; line: number; lineText: string; change: string };

/** `target` is replaced by `text`; `shown` is the expression around it that makes the change readable. */
type Edit = { target: Node; text: string; shown: Node };

const OPERATORS: Record<string, readonly string[]> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '**': ['*'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&': ['|'],
  '|': ['&'],
  '+=': ['-='],
  '-=': ['+='],
};

const METHODS: Record<string, string> = {
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
};

const SHOWN_MAX_LENGTH = 80;

/** All mutants of a file, in the order of its text. Strings, regular expressions and types are not changed. */
export function mutantsIn(file: string, source: SourceFile): Mutant[] {
  const edits: Edit[] = [];
  const visit = (node: Node): void => {
    if (isWithoutCode(node)) return;
    edits.push(...editsOf(node));
    node.forEachChild(visit);
  };
  source.forEachChild(visit);
  return edits.map((edit) => toMutant(file, source, edit)).sort((a, b) => a.start - b.start || a.end - b.end);
}

function isWithoutCode(node: Node): boolean {
  const isDeclaration = [SyntaxKind.TypeAliasDeclaration, SyntaxKind.InterfaceDeclaration].includes(node.kind);
  return isDeclaration || isImportDeclaration(node) || isTypeNode(node);
}

function editsOf(node: Node): Edit[] {
  const replace = (target: Node | undefined, texts: readonly string[], shown = node): Edit[] =>
    target === undefined ? [] : texts.map((text) => ({ target, text, shown }));

  if (isBinaryExpression(node)) return binaryEdits(node.left, node.operatorToken, node.right, node);
  if (isPrefixUnaryExpression(node) || isPostfixUnaryExpression(node)) return unaryEdits(node, node.operand);
  if (node.kind === SyntaxKind.TrueKeyword) return replace(node, ['false'], node.parent);
  if (node.kind === SyntaxKind.FalseKeyword) return replace(node, ['true'], node.parent);
  if (isNumericLiteral(node)) return isKey(node) ? [] : replace(node, neighbours(node.getText()), node.parent);
  if (isIfStatement(node)) return replace(node.expression, ['true', 'false'], node.expression);
  if (isConditionalExpression(node)) return replace(node.condition, ['true', 'false'], node.condition);
  // With a condition that is always true the loop would not end.
  if (isWhileStatement(node)) return replace(node.expression, ['false'], node.expression);
  if (isForStatement(node)) return replace(node.condition, ['false'], node.condition);
  if (isExpressionStatement(node)) return replace(node, [';']);
  if (isPropertyAccessExpression(node)) return replace(node.name, swapped(METHODS, node.name.getText()));
  if (isReturnStatement(node) && node.expression !== undefined && returnsBoolean(node)) {
    return isBinaryExpression(node.expression) ? [] : replace(node.expression, [`!(${node.expression.getText()})`]);
  }
  return [];
}

function binaryEdits(left: Node, operator: Node, right: Node, node: Node): Edit[] {
  const text = operator.getText();
  if (text === '??') return [left, right].map((operand) => ({ target: node, text: operand.getText(), shown: node }));
  if (text === '+' && (isText(left) || isText(right))) return [];
  return (OPERATORS[text] ?? []).map((other) => ({ target: operator, text: other, shown: node }));
}

function unaryEdits(node: Node, operand: Node): Edit[] {
  const text = node.getText();
  if (text.includes('++')) return [{ target: node, text: text.replace('++', '--'), shown: node }];
  if (text.includes('--')) return [{ target: node, text: text.replace('--', '++'), shown: node }];
  return /^[!~-]/.test(text) ? [{ target: node, text: operand.getText(), shown: node.parent }] : [];
}

/** `'a' + b` and longer chains of it. */
function isText(node: Node): boolean {
  if (isBinaryExpression(node)) return isText(node.left) || isText(node.right);
  const kinds = [SyntaxKind.StringLiteral, SyntaxKind.TemplateExpression, SyntaxKind.NoSubstitutionTemplateLiteral];
  return kinds.includes(node.kind);
}

function isKey(node: Node): boolean {
  return isPropertyAssignment(node.parent) && node.parent.name === node;
}

function neighbours(literal: string): string[] {
  const number = Number(literal.replaceAll('_', ''));
  return [number + 1, number - 1].map((one) => (one < 0 ? `(${one})` : String(one)));
}

function swapped(table: Record<string, string>, name: string): string[] {
  return Object.hasOwn(table, name) ? [table[name] as string] : [];
}

function returnsBoolean(node: Node): boolean {
  let scope = node.parent;
  while (!isFunction(scope)) {
    if (scope.kind === SyntaxKind.SourceFile) return false;
    scope = scope.parent;
  }
  return scope.type?.kind === SyntaxKind.BooleanKeyword || scope.type?.kind === SyntaxKind.TypePredicate;
}

function isFunction(node: Node) {
  return (
    isFunctionDeclaration(node) || isFunctionExpression(node) || isArrowFunction(node) || isMethodDeclaration(node)
  );
}

function toMutant(file: string, source: SourceFile, { target, text, shown }: Edit): Mutant {
  const [start, end] = [target.getStart(), target.getEnd()];
  const { line } = source.getLineAndCharacterOfPosition(start);
  const lineText = source.text.split('\n')[line]?.trim() ?? '';
  const frame = shown.getText().length <= SHOWN_MAX_LENGTH ? shown : target;
  const before = frame.getText();
  const after = applyMutant(before, {
    start: start - frame.getStart(),
    end: end - frame.getStart(),
    replacement: text,
  });
  const change = text === ';' ? `${shorten(before)} removed` : `${shorten(before)} → ${shorten(after)}`;
  return { file, start, end, replacement: text, line: line + 1, lineText, change };
}

function shorten(text: string): string {
  const flat = text.replace(/\s+/g, ' ');
  return flat.length <= SHOWN_MAX_LENGTH ? flat : `${flat.slice(0, SHOWN_MAX_LENGTH)}…`;
}
