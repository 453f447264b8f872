import type { Permission } from '@customer-platform/permissions';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { leavesOf, type Leaf, type RuleNode } from './rule.js';

const READ: Readonly<Record<Leaf['kind'], Permission>> = {
  attribute: 'core.contacts.read',
  consent: 'core.consents.read',
  event: 'core.events.read',
};

/** Whether somebody may learn what a leaf is compared with. */
export function mayRead(context: Pick<RequestContext, 'can'>, { kind }: Leaf): boolean {
  const permission = READ[kind];
  return context.can(permission);
}

/**
 * For answers that tell of contacts whatever rule is asked: by enough rules everything that rules look at can be told.
 * @throws Problem `permission_denied` with the first `permission` that is missing
 */
export function demandReadable(context: Pick<RequestContext, 'can'>, node: RuleNode): void {
  const hidden = leavesOf(node).find((leaf) => !mayRead(context, leaf));
  if (!hidden) return;
  const permission = READ[hidden.kind];
  throw new Problem('permission_denied', {
    detail: `This rule needs \`${permission}\` too.`,
    members: { permission },
  });
}
