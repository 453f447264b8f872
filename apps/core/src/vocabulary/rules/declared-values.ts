import { convertDeclared, type DeclaredType } from '../attributes/declaration.js';
import {
  asConverted,
  type DeclaredAttribute,
  type DeclaredAttributes,
} from '../attributes/declared-attributes.js';
import { attributeKeyOf } from './attribute-paths.js';
import type { Facts } from './evaluate.js';
import type { RuleNode, Scalar, Test } from './rule.js';

/** The rule with what its conditions compare attributes with as values of the declared types. */
export function byDeclaredTypes(node: RuleNode, attributes: DeclaredAttributes): RuleNode {
  if (attributes.size === 0) return node;
  switch (node.kind) {
    case 'all':
    case 'any':
      return { ...node, nodes: node.nodes.map((each) => byDeclaredTypes(each, attributes)) };
    case 'not':
      return { ...node, node: byDeclaredTypes(node.node, attributes) };
    case 'attribute': {
      const attribute = attributeOf(node.path, attributes);
      return attribute ? { ...node, test: typed(node.test, typeOf(attribute)) } : node;
    }
    default:
      return node;
  }
}

/** Facts in which every value of an attribute that is being converted reads as it will when that has ended. */
export function factsAsConverted(facts: Facts, attributes: DeclaredAttributes): Facts {
  return {
    ...facts,
    attribute: (path) => {
      const value = facts.attribute(path);
      const attribute = attributeOf(path, attributes);
      return attribute?.converting ? asConverted(attribute, value) : value;
    },
  };
}

function attributeOf(path: string, attributes: DeclaredAttributes): DeclaredAttribute | undefined {
  const key = attributeKeyOf(path);
  return key === undefined ? undefined : attributes.get(key);
}

function typeOf({ declared, next }: DeclaredAttribute): DeclaredType {
  return (next ?? declared).type;
}

function typed(test: Test, type: DeclaredType): Test {
  switch (test.op) {
    case 'eq':
    case 'ne':
      return { op: test.op, value: literal(test.value, type) };
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const value = literal(test.value, type);
      return typeof value === 'boolean' ? test : { op: test.op, value };
    }
    case 'in':
      return { op: 'in', values: test.values.map((value) => literal(value, type)) };
    case 'contains':
      return type === 'string' || type === 'string_list'
        ? { op: 'contains', value: literal(test.value, 'string') }
        : test;
    default:
      return test;
  }
}

/** What is no value of the type stays as it is, and equals none. */
function literal(value: Scalar, type: DeclaredType): Scalar {
  const unbounded = { type, enum: null, max_length: null, min: null, max: null };
  const read = convertDeclared(unbounded, value);
  return 'value' in read && !Array.isArray(read.value) ? (read.value as Scalar) : value;
}
