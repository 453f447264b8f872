import { isWindow } from './duration.ts';
import { depthOf, leavesIn } from './edit-rule.ts';
import {
  CONSENT_CHANNELS,
  CONSENT_STATES,
  RULE_FIELDS,
  DEEPEST,
  isOneOf,
  MOST_LEAVES,
  PURPOSES,
  toRule,
  valueOf,
  type ConsentLeaf,
  type EventLeaf,
  type Node,
  type TestDraft,
} from './rule.ts';

/** What can be wrong with a rule, by the name of its sentence. */
type RuleFault =
  | 'tooDeep'
  | 'tooManyLeaves'
  | 'tooLarge'
  | 'emptyGroup'
  | 'tooManyInGroup'
  | 'attribute'
  | 'number'
  | 'text'
  | 'noBoolean'
  | 'boolean'
  | 'list'
  | 'tooLong'
  | 'duration'
  | 'purpose'
  | 'channel'
  | 'status'
  | 'event'
  | 'property'
  | 'count'
  | 'tooManyConditions';

/** Where something is wrong, as the API's pointers say it, and what. */
interface RuleProblem {
  pointer: string;
  fault: RuleFault;
}

const LONGEST_PATH = 250;
const LONGEST_NAME = 200;
const LONGEST_TEXT = 1_000;
const LONGEST_PART = 200;
const MOST_VALUES = 100;
const MOST_BYTES = 32 * 1024;
const HIGHEST_COUNT = 1_000;
const CUSTOM_PURPOSE = /^custom\.[a-z0-9][a-z0-9_-]{0,62}$/;

/** What the API would refuse of a rule (core.md §7), before it is asked. What it alone knows is left to it. */
export function checkRule(root: Node): RuleProblem[] {
  const problems = checkNode(root, '/rule');
  const fail = (fault: RuleFault): void => void problems.unshift({ pointer: '/rule', fault });
  if (depthOf(root) > DEEPEST) fail('tooDeep');
  if (leavesIn(root) > MOST_LEAVES) fail('tooManyLeaves');
  if (new TextEncoder().encode(JSON.stringify(toRule(root))).length > MOST_BYTES) fail('tooLarge');
  return problems;
}

function checkNode(node: Node, pointer: string): RuleProblem[] {
  switch (node.kind) {
    case 'all':
    case 'any': {
      const at = `${pointer}/${node.kind}`;
      const size = node.nodes.length;
      if (size === 0) return [{ pointer: at, fault: 'emptyGroup' }];
      if (size > MOST_LEAVES) return [{ pointer: at, fault: 'tooManyInGroup' }];
      return node.nodes.flatMap((inner, place) => checkNode(inner, `${at}/${place}`));
    }
    case 'not':
      return checkNode(node.node, `${pointer}/not`);
    case 'attribute':
      return [
        ...(isAttributePath(node.path)
          ? []
          : [{ pointer: `${pointer}/attribute`, fault: 'attribute' as const }]),
        ...checkTest(node, pointer),
      ];
    case 'consent':
      return checkConsent(node, pointer);
    case 'event':
      return checkEvent(node, pointer);
    case 'unknown':
      return [];
  }
}

function isAttributePath(path: string): boolean {
  if (isOneOf(RULE_FIELDS, path)) return true;
  const parts = path.split('.');
  return path.length <= LONGEST_PATH && path.startsWith('attributes.') && parts.every((part) => part !== '');
}

function checkConsent({ purpose, channel, status }: ConsentLeaf, pointer: string): RuleProblem[] {
  const problems: RuleProblem[] = [];
  if (!isOneOf(PURPOSES, purpose) && !CUSTOM_PURPOSE.test(purpose))
    problems.push({ pointer: `${pointer}/consent/purpose`, fault: 'purpose' });
  if (channel !== undefined && channel !== null && !isOneOf(CONSENT_CHANNELS, channel))
    problems.push({ pointer: `${pointer}/consent/channel`, fault: 'channel' });
  if (!isOneOf(CONSENT_STATES, status)) problems.push({ pointer: `${pointer}/status`, fault: 'status' });
  return problems;
}

function checkEvent({ event, where = [], count, within }: EventLeaf, pointer: string): RuleProblem[] {
  const problems: RuleProblem[] = [];
  if (event === '' || event.length > LONGEST_NAME)
    problems.push({ pointer: `${pointer}/event`, fault: 'event' });
  if (where.length > MOST_LEAVES) problems.push({ pointer: `${pointer}/where`, fault: 'tooManyConditions' });
  where.forEach((condition, place) => {
    const at = `${pointer}/where/${place}`;
    const { property } = condition;
    if (property === '' || property.length > LONGEST_NAME)
      problems.push({ pointer: `${at}/property`, fault: 'property' });
    problems.push(...checkTest(condition, at));
  });
  const counted = count && valueOf({ as: 'number', text: count.text });
  if (count && !(Number.isSafeInteger(counted) && Number(counted) >= 0 && Number(counted) <= HIGHEST_COUNT))
    problems.push({ pointer: `${pointer}/count/value`, fault: 'count' });
  if (within !== undefined && !isWindow(within))
    problems.push({ pointer: `${pointer}/within`, fault: 'duration' });
  return problems;
}

function checkTest(test: TestDraft, pointer: string): RuleProblem[] {
  const fault = faultOf(test);
  return fault === undefined ? [] : [{ pointer: `${pointer}/value`, fault }];
}

function faultOf({ op, drafts }: TestDraft): RuleFault | undefined {
  if (op === 'in' && (drafts.length === 0 || drafts.length > MOST_VALUES)) return 'list';
  const values = drafts.map(valueOf);
  if (values.includes(undefined)) return 'number';
  const [value] = values;
  const longest = op === 'contains' || op === 'prefix' ? LONGEST_PART : LONGEST_TEXT;
  switch (op) {
    case 'prefix':
      if (typeof value !== 'string' || value === '') return 'text';
      break;
    case 'exists':
      return typeof value === 'boolean' ? undefined : 'boolean';
    case 'within_last':
      return typeof value === 'string' && isWindow(value) ? undefined : 'duration';
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      if (typeof value === 'boolean') return 'noBoolean';
      break;
    case 'eq':
    case 'ne':
    case 'in':
    case 'contains':
      break;
  }
  // As the API counts them: by characters, not by code units.
  const long = values.some((each) => typeof each === 'string' && [...each].length > longest);
  return long ? 'tooLong' : undefined;
}
