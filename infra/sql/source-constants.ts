import ts from 'typescript';
import { isBuiltIn, ofMethod, ofRecord } from './built-in-methods.ts';
import { Callers, sourceOf, type Call } from './callers.ts';
import {
  Closure,
  memberOf,
  NOTHING,
  ofEach,
  OPERATORS,
  recordOf,
  textOf,
  THROWN,
  truthsOf,
  unique,
  UNTOLD,
  type Constant,
  type Scope,
} from './constant.ts';
import { isConstant, isLocal, regularExpressionOf, setInConstructor, valuesOfType } from './declarations.ts';

/** More combinations than this of one expression are taken for unknown. */
const MOST = 64;
const DEEPEST = 80;
/** Declarations of what is read from an object and known without it. */
const ISSUED = [ts.isPropertyDeclaration, ts.isMethodDeclaration, ts.isEnumMember, ts.isParameter];

/**
 * What expressions may be once the program runs, read from the source: constants of any file, templates and functions
 * that put them together. Of a condition it takes both sides, of a union of literals each, of a parameter what all
 * callers give, of a number 1; where one of these cannot be told, nothing.
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

  /** As `of`, for each way in which the loops and functions around it are gone through, all their names together. */
  within(node: ts.Expression): readonly Constant[] {
    const around: (ts.ForOfStatement | ts.SignatureDeclaration)[] = [];
    for (let at: ts.Node = node; !ts.isSourceFile(at); at = at.parent)
      if (ts.isForOfStatement(at) || ts.isFunctionLike(at)) around.unshift(at);
    const scopes = around.reduce<readonly Scope[]>(
      (outer, one) => outer.flatMap((scope) => this.scopesIn(one, scope)).slice(0, MOST + 1),
      [new Map()],
    );
    return scopes.length > MOST ? this.of(node) : unique(ofEach(scopes, (scope) => this.of(node, scope)));
  }

  private scopesIn(node: ts.ForOfStatement | ts.SignatureDeclaration, scope: Scope): readonly Scope[] {
    if (!ts.isForOfStatement(node)) return this.scopesOf(node, scope);
    const [declaration] = ts.isVariableDeclarationList(node.initializer) ? node.initializer.declarations : [];
    return declaration ? this.bound(declaration.name, this.ofLoop(declaration, scope), scope) : [scope];
  }

  /** For each of its callers, what they give together. */
  private scopesOf(callee: ts.SignatureDeclaration, outer: Scope = new Map()): readonly Scope[] {
    const calls = this.callers.of(callee);
    if (calls.length === 0) return [outer];
    return calls.flatMap((call) =>
      callee.parameters.reduce<readonly Scope[]>(
        (scopes, parameter, place) =>
          scopes.flatMap((scope) => this.bound(parameter.name, this.given(call, parameter, place), scope)),
        [outer],
      ),
    );
  }

  private given(call: Call, { initializer }: ts.ParameterDeclaration, place: number): readonly Constant[] {
    const argument = call.arguments?.[place];
    if (argument) return this.of(argument);
    return initializer ? this.of(initializer) : [undefined];
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
    const declaration = symbol.valueDeclaration;
    if (declaration && isLocal(declaration)) {
      const values = this.of(declaration.initializer, scope);
      if (values.length > 0) return values;
    }
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
    return ofEach(this.bound(holder.name, values, new Map()), (scope) =>
      scope.has(symbol) ? [scope.get(symbol)] : NOTHING,
    );
  }

  /** Each that a loop goes through. */
  private ofLoop(declaration: ts.VariableDeclaration, scope?: Scope): readonly Constant[] {
    const loop = declaration.parent.parent;
    if (!ts.isForOfStatement(loop)) return NOTHING;
    return ofEach(this.of(loop.expression, scope), (list) =>
      Array.isArray(list) ? (list as Constant[]) : NOTHING,
    );
  }

  /** What all who call its function give; nothing where it cannot be told of one of them. */
  private ofCallers(parameter: ts.ParameterDeclaration): readonly Constant[] {
    const callee = parameter.parent;
    const place = callee.parameters.indexOf(parameter);
    return ofEach(this.callers.of(callee), (call) => this.given(call, parameter, place));
  }

  /** A property that the constructor sets. */
  private ofConstructor(property: ts.PropertyDeclaration): readonly Constant[] {
    const set = setInConstructor(property);
    return set ? ofEach(this.scopesOf(set.maker), (scope) => this.of(set.value, scope)) : NOTHING;
  }

  /** What its type alone tells. */
  private byType(node: ts.Node): readonly Constant[] {
    return valuesOfType(this.checker.getTypeAtLocation(node), this.checker);
  }

  private conditional(node: ts.ConditionalExpression, scope: Scope): readonly Constant[] {
    return ofEach(truthsOf(this.of(node.condition, scope)), (yes) =>
      this.of(yes ? node.whenTrue : node.whenFalse, scope),
    );
  }

  private binary(node: ts.BinaryExpression, scope: Scope): readonly Constant[] {
    const operate = OPERATORS.get(node.operatorToken.kind);
    if (!operate) return this.byType(node);
    const [left, right] = [this.of(node.left, scope), this.of(node.right, scope)];
    if (left.length === 0 || right.length === 0) return this.byType(node);
    return left.flatMap((one) => right.flatMap((other) => operate(one, other)));
  }

  private list(node: ts.ArrayLiteralExpression, scope: Scope): readonly Constant[] {
    return node.elements.reduce<readonly (readonly Constant[])[]>(
      (lists, element) => {
        const spread = ts.isSpreadElement(element);
        const values = this.of(spread ? element.expression : element, scope);
        if (spread && !values.every(Array.isArray)) return [];
        return values.flatMap((value) =>
          lists.map((list) => [...list, ...(spread ? (value as Constant[]) : [value])]),
        );
      },
      [[]],
    );
  }

  /** One for each combination of what its members may be; what cannot be told of one says nothing of the others. */
  private record(node: ts.ObjectLiteralExpression, scope: Scope): readonly Constant[] {
    let records: readonly ReadonlyMap<string, Constant>[] = [new Map()];
    for (const member of node.properties) {
      const entries = this.entriesOf(member, scope);
      if (!entries || records.length * entries.length > MOST) return NOTHING;
      records = records.flatMap((record) => entries.map((more) => new Map([...record, ...more])));
    }
    return records;
  }

  /** What a member may add to its record; undefined: names that cannot be told. */
  private entriesOf(
    member: ts.ObjectLiteralElementLike,
    scope: Scope,
  ): readonly ReadonlyMap<string, Constant>[] | undefined {
    if (ts.isSpreadAssignment(member)) {
      const records = this.of(member.expression, scope).map(recordOf);
      const told = records.filter((record) => record !== undefined);
      return told.length > 0 && told.length === records.length ? told : undefined;
    }
    const { name } = member;
    if (!ts.isIdentifier(name) && !ts.isStringLiteralLike(name)) return undefined;
    const values = this.memberValues(member, scope);
    return (values.length > 0 ? values : [UNTOLD]).map((value) => new Map([[name.text, value]]));
  }

  private memberValues(member: ts.ObjectLiteralElementLike, scope: Scope): readonly Constant[] {
    if (ts.isPropertyAssignment(member)) return this.of(member.initializer, scope);
    if (ts.isMethodDeclaration(member)) return [new Closure(member, scope)];
    if (!ts.isShorthandPropertyAssignment(member)) return NOTHING;
    const symbol = this.checker.getShorthandAssignmentValueSymbol(member);
    if (symbol && scope.has(symbol)) return [scope.get(symbol)];
    return (symbol && this.declared(sourceOf(symbol, this.checker))) ?? NOTHING;
  }

  private property(node: ts.PropertyAccessExpression, scope: Scope): readonly Constant[] {
    const symbol = this.checker.getSymbolAtLocation(node.name);
    const own = symbol?.valueDeclaration;
    if (own && ISSUED.some((is) => is(own))) return this.declared(symbol) ?? this.byType(node);
    const name = node.name.text;
    const found = ofEach(this.of(node.expression, scope), (value) => {
      const member = recordOf(value)?.get(name) ?? UNTOLD;
      if (member !== UNTOLD) return [member];
      const counted = name === 'length' && (typeof value === 'string' || Array.isArray(value));
      return counted ? [value.length] : NOTHING;
    });
    return found.length > 0 ? found : this.byType(node);
  }

  private element(node: ts.ElementAccessExpression, scope: Scope): readonly Constant[] {
    const [records, keys] = [this.of(node.expression, scope), this.of(node.argumentExpression, scope)];
    return ofEach(records, (record) =>
      ofEach(keys, (key) => {
        const member = memberOf(record, textOf(key)) ?? UNTOLD;
        return member === UNTOLD ? NOTHING : [member];
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
    return ofEach(scopes, (scope) =>
      ts.isBlock(node.body as ts.ConciseBody)
        ? this.returned((node.body as ts.Block).statements, scope)
        : this.of(node.body as ts.Expression, scope),
    ).filter((value) => value !== THROWN);
  }

  /** A name whose value cannot be told is left out: what it is for may be told by its type. */
  private bound(name: ts.BindingName, values: readonly Constant[], scope: Scope): readonly Scope[] {
    if (values.length === 0) return [scope];
    return values.flatMap((value): readonly Scope[] => {
      if (value === UNTOLD) return [scope];
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

  /** Of a body of constants, conditions, throws and returns; unknown with anything else before the return. */
  private returned(statements: readonly ts.Statement[], scope: Scope): readonly Constant[] {
    const [first, ...rest] = statements;
    if (!first) return NOTHING;
    if (ts.isReturnStatement(first)) return first.expression ? this.of(first.expression, scope) : [undefined];
    if (ts.isThrowStatement(first)) return [THROWN];
    if (ts.isIfStatement(first)) return this.branched(first, rest, scope);
    if (!ts.isVariableStatement(first) || !(first.declarationList.flags & ts.NodeFlags.Const)) return NOTHING;
    const scopes = first.declarationList.declarations.reduce<readonly Scope[]>(
      (all, { name, initializer }) =>
        all.flatMap((one) => this.bound(name, initializer ? this.of(initializer, one) : NOTHING, one)),
      [scope],
    );
    return ofEach(scopes, (one) => this.returned(rest, one));
  }

  private branched(
    { expression, thenStatement, elseStatement }: ts.IfStatement,
    rest: readonly ts.Statement[],
    scope: Scope,
  ): readonly Constant[] {
    const inside = (statement: ts.Statement | undefined): readonly ts.Statement[] =>
      statement ? (ts.isBlock(statement) ? statement.statements : [statement]) : [];
    return ofEach(truthsOf(this.of(expression, scope)), (yes) =>
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
      return ofEach(this.argumentsOf(call, scope)[0] ?? NOTHING, (value) => ofRecord(value, method));
    if (!isBuiltIn(method)) return undefined;
    const given = this.argumentsOf(call, scope);
    const apply = (closure: Closure, values: readonly Constant[]): readonly Constant[] =>
      this.apply(
        closure,
        values.map((value) => [value]),
      );
    return ofEach(this.of(expression, scope), (value) => ofMethod(value, method, given, apply));
  }
}
