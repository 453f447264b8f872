import { contractProblems } from './contract.problems.js';
import { coreProblems } from './core.problems.js';
import { crmProblems } from './crm.problems.js';
import { identityProblems } from './identity.problems.js';
import { loyaltyProblems } from './loyalty.problems.js';
import { messagingProblems } from './messaging.problems.js';
import type { ProblemDefinition } from './problem-definition.js';

const registry = {
  ...contractProblems,
  ...coreProblems,
  ...crmProblems,
  ...identityProblems,
  ...loyaltyProblems,
  ...messagingProblems,
};

/** A published problem code: snake_case, one cause, never removed nor given another status. */
export type ProblemCode = keyof typeof registry;

/** Every problem code with its status, title, meaning and remedy (RFC 9457; the public contract, "Problems"). */
export const PROBLEMS: Readonly<Record<ProblemCode, ProblemDefinition>> = Object.freeze(registry);

/** Whether `text` is a published code. */
export function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(registry, text);
}
