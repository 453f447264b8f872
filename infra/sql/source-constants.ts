import ts from 'typescript';
import { isBuiltIn, ofMethod, ofRecord } from './built-in-methods.ts';
import { Callers, sourceOf } from './callers.ts';
import {
  Closure,
  memberOf,
  NOTHING,
  OPERATORS,
  recordOf,
  textOf,
  type Constant,
  type Scope,
} from './constant.ts';

/** More combinations than this of one expression are taken for unknown. */
const MOST = 64;
const DEEPEST = 40;

/** Declarations of what is read from an object and known without it. */
const ISSUED = [ts.isPropertyDeclaration, ts.isMethodDeclaration, ts.isEnumMember, ts.isParameter];
const UNTOLD = Symbol('untold');

/**
 * What expressions may be once the program runs, read from the source: constants of any file, templates and functions
 * that put them together. Of a condition it takes both sides, of a union of literals each, of a parameter what all
 * callers give, of a number 1.
 */
export class Constants {
  private readonly checker: ts.TypeChecker;
  private readonly callers: Callers;
  private readonly ofDeclarations = new Map<ts.Node, readonly Constant[]>();
  private depth = 0;

  constructor(checker: ts.TypeChecker, files: readonly ts.SourceFile[]) {
    this.checker = checker;
    this.callers = new Callers(checker, files);
  }

  /** @returns all that it may be; none: it cannot be told */
  of(node: ts.Expression, scope: Scope = new Map()): readonly Constant[] {
    if (this.depth >= DEEPEST) return NOTHING;
    this.depth += 1;
    try {
      const values = this.evaluate(node, scope);
      return values.length > MOST ? NOTHING : unique(values);
    } finally {
      this.depth -= 1;
    }
  }

  private evaluate(node: ts.Expression, scope: Scope): readonly Constant[] {
    if (ts.isStringLiteralLike(node)) return [node.text];
    if (ts.isNumericLiteral(node)) return [Number(node.text.replaceAll('_', ''))];
    if (ts.isRegularExpressionLiteral(node)) return [regularExpressionOf(node.text)];
    if (node.kind === ts.SyntaxKind.TrueKeyword) return [true];
    if (node.kind === ts.SyntaxKind.FalseKeyword) return [false];
    if (node.kind === ts.SyntaxKind.NullKeyword) return [null];
    if (ts.isTemplateExpression(node)) return this.template(node, scope);
    if (ts.isIdentifier(node)) return this.named(node, scope);
    if (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) return [new Closure(node, scope)];
    if (ts.isConditionalExpression(node)) return this.conditional(node, scope);
    if (ts.isBinaryExpression(node)) return this.binary(node, scope);
    if (ts.isArrayLiteralExpression(node)) return this.list(node, scope);
    if (ts.isObjectLiteralExpression(node)) return this.record(node, scope);
    if (ts.isPropertyAccessExpression(node)) return this.property(node, scope);
    if (ts.isElementAccessExpression(node)) return this.element(node, scope);
    if (ts.isCallExpression(node)) return this.call(node, scope);
    if (
      ts.isParenthesizedExpression(node) ||
      ts.isAsExpression(node) ||
      ts.isSatisfiesExpression(node) ||
      ts.isNonNullExpression(node)
    )
      return this.of(node.expression, scope);
    return this.byType(node);
  }

  private template(node: ts.TemplateExpression, scope: Scope): readonly Constant[] {
    return node.templateSpans.reduce<readonly string[]>(
      (heads, span) =>
        this.of(span.expression, scope).flatMap((value) =>
          heads.map((head) => head + textOf(value) + span.literal.text),
        ),
      [node.head.text],
    );
  }

  private named(node: ts.Identifier, scope: Scope): readonly Constant[] {
    if (node.text === 'undefined') return [undefined];
    const symbol = this.checker.getSymbolAtLocation(node);
    if (!symbol) return NOTHING;
    if (scope.has(symbol)) return [scope.get(symbol)];
    return this.declared(sourceOf(symbol, this.checker)) ?? this.byType(node);
  }

  /** Undefined where it cannot be told. */
  private declared(symbol: ts.Symbol): readonly Constant[] | undefined {
    const declaration = symbol.valueDeclaration;
    if (!declaration) return undefined;
    if (ts.isFunctionDeclaration(declaration) || ts.isMethodDeclaration(declaration))
      return [new Closure(declaration, new Map())];
    const known = this.ofDeclarations.get(declaration);
    if (known) return known.length > 0 ? known : undefined;
    this.ofDeclarations.set(declaration, NOTHING);
    const values = unique(this.ofDeclaration(symbol, declaration));
    this.ofDeclarations.set(declaration, values.length > MOST ? NOTHING : values);
    return values.length > 0 ? values : undefined;
  }

  private ofDeclaration(symbol: ts.Symbol, declaration: ts.Declaration): readonly Constant[] {
    if (isConstant(declaration)) return this.of(declaration.initializer);
    if (ts.isBindingElement(declaration)) return this.ofPattern(symbol, declaration);
    if (ts.isVariableDeclaration(declaration)) return this.ofLoop(declaration);
    if (ts.isParameter(declaration)) return this.ofCallers(declaration);
    return ts.isPropertyDeclaration(declaration) ? this.ofConstructor(declaration) : NOTHING;
  }

  /** A name in a pattern: of a variable, of a loop, of a parameter. */
  private ofPattern(symbol: ts.Symbol, element: ts.BindingElement): readonly Constant[] {
    let holder: ts.Node = element;
    while (
      ts.isBindingElement(holder) ||
      ts.isObjectBindingPattern(holder) ||
      ts.isArrayBindingPattern(holder)
    )
      holder = holder.parent;
    if (!ts.isVariableDeclaration(holder) && !ts.isParameter(holder)) return NOTHING;
    const values = isConstant(holder)
      ? this.of(holder.initializer)
      : ts.isParameter(holder)
        ? this.ofCallers(holder)
        : this.ofLoop(holder);
    return this.bound(holder.name, values, new Map()).flatMap((scope) =>
      scope.has(symbol) ? [scope.get(symbol)] : [],
    );
  }

  /** Each that a loop goes through. */
  private ofLoop(declaration: ts.VariableDeclaration): readonly Constant[] {
    const loop = declaration.parent.parent;
    if (!ts.isForOfStatement(loop)) return NOTHING;
    return this.of(loop.expression).flatMap((list) => (Array.isArray(list) ? (list as Constant[]) : []));
  }

  /** What all who call its function give; nothing where it cannot be told of one of them. */
  private ofCallers(parameter: ts.ParameterDeclaration): readonly Constant[] {
    const callee = parameter.parent;
    const place = callee.parameters.indexOf(parameter);
    const given = this.callers.of(callee).map((call) => {
      const argument = call.arguments?.[place];
      if (argument) return this.of(argument);
      return parameter.initializer ? this.of(parameter.initializer) : [undefined];
    });
    return given.some(({ length }) => length === 0) ? NOTHING : given.flat();
  }

  /** A property that the constructor sets. */
  private ofConstructor(property: ts.PropertyDeclaration): readonly Constant[] {
    const maker = property.parent.members.find(ts.isConstructorDeclaration);
    for (const statement of maker?.body?.statements ?? []) {
      const set = ts.isExpressionStatement(statement) ? statement.expression : undefined;
      if (
        set &&
        ts.isBinaryExpression(set) &&
        ts.isPropertyAccessExpression(set.left) &&
        set.left.expression.kind === ts.SyntaxKind.ThisKeyword &&
        set.left.name.text === property.name.getText()
      )
        return this.of(set.right);
    }
    return NOTHING;
  }

  /** What its type alone tells. */
  private byType(node: ts.Node): readonly Constant[] {
    const type = this.checker.getTypeAtLocation(node);
    const members = type.isUnion() ? type.types : [type];
    const values = members.map((member): Constant | symbol => {
      if (member.isStringLiteral() || member.isNumberLiteral()) return member.value;
      if (member.flags & ts.TypeFlags.NumberLike) return 1;
      if (member.flags & ts.TypeFlags.Undefined) return undefined;
      if (member.flags & ts.TypeFlags.BooleanLiteral) return this.checker.typeToString(member) === 'true';
      return UNTOLD;
    });
    return values.includes(UNTOLD) ? NOTHING : (values as Constant[]);
  }

  private conditional(node: ts.ConditionalExpression, scope: Scope): readonly Constant[] {
    const conditions = this.of(node.condition, scope);
    const [yes, no] = [this.of(node.whenTrue, scope), this.of(node.whenFalse, scope)];
    if (conditions.length === 0) return yes.length > 0 && no.length > 0 ? [...yes, ...no] : NOTHING;
    return conditions.flatMap((condition) => (condition ? yes : no));
  }

  private binary(node: ts.BinaryExpression, scope: Scope): readonly Constant[] {
    const operate = OPERATORS.get(node.operatorToken.kind);
    if (!operate) return this.byType(node);
    const [left, right] = [this.of(node.left, scope), this.of(node.right, scope)];
    if (left.length === 0 || right.length === 0) return this.byType(node);
    return left.flatMap((one) => right.map((other) => operate(one, other)));
  }

  private list(node: ts.ArrayLiteralExpression, scope: Scope): readonly Constant[] {
    return node.elements.reduce<readonly (readonly Constant[])[]>(
      (lists, element) => {
        const spread = ts.isSpreadElement(element);
        const values = this.of(spread ? element.expression : element, scope);
        return values.flatMap((value) =>
          spread && !Array.isArray(value)
            ? []
            : lists.map((list) => [...list, ...(spread ? (value as Constant[]) : [value])]),
        );
      },
      [[]],
    );
  }

  private record(node: ts.ObjectLiteralExpression, scope: Scope): readonly Constant[] {
    const entries = new Map<string, Constant>();
    for (const member of node.properties) {
      if (ts.isSpreadAssignment(member)) {
        const [value] = this.of(member.expression, scope);
        const record = recordOf(value);
        if (!record) return NOTHING;
        for (const [key, one] of record) entries.set(key, one);
        continue;
      }
      if (!member.name || ts.isComputedPropertyName(member.name)) return NOTHING;
      const name =
        ts.isIdentifier(member.name) || ts.isStringLiteralLike(member.name) ? member.name.text : '';
      if (ts.isPropertyAssignment(member)) {
        // What cannot be told of one member says nothing of the others.
        const values = this.of(member.initializer, scope);
        if (values.length === 1) entries.set(name, values[0]);
      } else if (ts.isMethodDeclaration(member)) entries.set(name, new Closure(member, scope));
      else if (ts.isShorthandPropertyAssignment(member)) {
        const symbol = this.checker.getShorthandAssignmentValueSymbol(member);
        const values =
          symbol && (scope.has(symbol) ? [scope.get(symbol)] : this.declared(sourceOf(symbol, this.checker)));
        if (values?.length === 1) entries.set(name, values[0]);
      }
    }
    return [entries];
  }

  private property(node: ts.PropertyAccessExpression, scope: Scope): readonly Constant[] {
    const symbol = this.checker.getSymbolAtLocation(node.name);
    const own = symbol?.valueDeclaration;
    if (own && ISSUED.some((is) => is(own))) return this.declared(symbol) ?? this.byType(node);
    const values = this.of(node.expression, scope);
    const found = values.flatMap((value): Constant[] => {
      const record = recordOf(value);
      if (record) return record.has(node.name.text) ? [record.get(node.name.text)] : [];
      return node.name.text === 'length' && (typeof value === 'string' || Array.isArray(value))
        ? [value.length]
        : [];
    });
    return found.length > 0 && found.length === values.length ? found : this.byType(node);
  }

  private element(node: ts.ElementAccessExpression, scope: Scope): readonly Constant[] {
    const [records, keys] = [this.of(node.expression, scope), this.of(node.argumentExpression, scope)];
    return records.flatMap((record) =>
      keys.flatMap((key): Constant[] => {
        const member = memberOf(record, textOf(key));
        return member === undefined ? [] : [member];
      }),
    );
  }

  private call(node: ts.CallExpression, scope: Scope): readonly Constant[] {
    const { expression } = node;
    if (ts.isPropertyAccessExpression(expression)) {
      const built = this.builtIn(expression, node, scope);
      if (built) return built;
    }
    if (ts.isIdentifier(expression) && expression.text === 'String')
      return node.arguments.flatMap((argument) => this.of(argument, scope).map(textOf));
    const [callee] = this.of(expression, scope);
    const values = callee instanceof Closure ? this.apply(callee, this.argumentsOf(node, scope)) : NOTHING;
    return values.length > 0 ? values : this.byType(node);
  }

  private argumentsOf(node: ts.CallExpression, scope: Scope): (readonly Constant[])[] {
    return node.arguments.map((argument) => this.of(argument, scope));
  }

  /** Each combination of what its arguments may be. */
  private apply(closure: Closure, given: readonly (readonly Constant[])[]): readonly Constant[] {
    const { node } = closure;
    if (!node.body) return NOTHING;
    let scopes: readonly Scope[] = [closure.scope];
    for (const [place, parameter] of node.parameters.entries()) {
      const values = given[place] ?? (parameter.initializer ? this.of(parameter.initializer) : NOTHING);
      scopes = scopes.flatMap((scope) => this.bound(parameter.name, values, scope));
      if (scopes.length > MOST) return NOTHING;
    }
    return scopes.flatMap((scope) =>
      ts.isBlock(node.body as ts.ConciseBody)
        ? this.returned((node.body as ts.Block).statements, scope)
        : this.of(node.body as ts.Expression, scope),
    );
  }

  /** A name whose value cannot be told is left out: what it is for may be told by its type. */
  private bound(name: ts.BindingName, values: readonly Constant[], scope: Scope): readonly Scope[] {
    if (values.length === 0) return [scope];
    return values.flatMap((value): readonly Scope[] => {
      if (ts.isIdentifier(name)) {
        const symbol = this.checker.getSymbolAtLocation(name);
        return symbol ? [new Map(scope).set(symbol, value)] : [scope];
      }
      return name.elements.reduce<readonly Scope[]>(
        (scopes, element, place) => {
          if (!ts.isBindingElement(element)) return scopes;
          const key = element.propertyName ?? element.name;
          const inner = memberOf(value, Array.isArray(value) || !ts.isIdentifier(key) ? place : key.text);
          const values = inner === undefined && element.initializer ? this.of(element.initializer) : [inner];
          return scopes.flatMap((one) => this.bound(element.name, values, one));
        },
        [scope],
      );
    });
  }

  /** Of a body of constants, conditions and returns; unknown with anything else before the return. */
  private returned(statements: readonly ts.Statement[], scope: Scope): readonly Constant[] {
    const [first, ...rest] = statements;
    if (!first) return NOTHING;
    if (ts.isReturnStatement(first)) return first.expression ? this.of(first.expression, scope) : [undefined];
    if (ts.isVariableStatement(first)) {
      const scopes = first.declarationList.declarations.reduce<readonly Scope[]>(
        (all, { name, initializer }) =>
          all.flatMap((one) => this.bound(name, initializer ? this.of(initializer, one) : NOTHING, one)),
        [scope],
      );
      return scopes.flatMap((one) => this.returned(rest, one));
    }
    if (ts.isIfStatement(first)) return this.branched(first, rest, scope);
    return NOTHING;
  }

  private branched(
    { expression, thenStatement, elseStatement }: ts.IfStatement,
    rest: readonly ts.Statement[],
    scope: Scope,
  ): readonly Constant[] {
    const inside = (statement: ts.Statement | undefined): readonly ts.Statement[] =>
      statement ? (ts.isBlock(statement) ? statement.statements : [statement]) : [];
    const conditions = this.of(expression, scope);
    const taken = conditions.length === 0 ? [true, false] : conditions.map(Boolean);
    return [...new Set(taken)].flatMap((yes) =>
      this.returned([...inside(yes ? thenStatement : elseStatement), ...rest], scope),
    );
  }

  /** Methods of texts and lists, and of `Object`. Undefined: it is none of them. */
  private builtIn(
    { expression, name: { text: method } }: ts.PropertyAccessExpression,
    call: ts.CallExpression,
    scope: Scope,
  ): readonly Constant[] | undefined {
    if (ts.isIdentifier(expression) && expression.text === 'Object')
      return this.argumentsOf(call, scope)[0]?.flatMap((value) => ofRecord(value, method));
    if (!isBuiltIn(method)) return undefined;
    const given = this.argumentsOf(call, scope);
    const apply = (closure: Closure, values: readonly Constant[]): readonly Constant[] =>
      this.apply(
        closure,
        values.map((value) => [value]),
      );
    return this.of(expression, scope).flatMap((value) => ofMethod(value, method, given, apply));
  }
}

function isConstant(node: ts.Declaration): node is ts.Declaration & { readonly initializer: ts.Expression } {
  if (!('initializer' in node) || !node.initializer) return false;
  if (ts.isVariableDeclaration(node)) return (ts.getCombinedNodeFlags(node) & ts.NodeFlags.Const) !== 0;
  if (ts.isEnumMember(node)) return true;
  return (
    ts.isPropertyDeclaration(node) && (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Readonly) !== 0
  );
}

function regularExpressionOf(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}

function unique(values: readonly Constant[]): readonly Constant[] {
  return [...new Set(values)];
}
