import { sameJson, type Transaction } from '@customer-platform/database';
import { FieldErrors, Problem, type FieldCode } from '@customer-platform/problem-json';
import { checkAddress, checkNewAddress } from '../../vocabulary/addresses/address.js';
import { checkTopicAmong, type ChannelPlans } from '../../settings/channels/channel-plans.js';
import { tryShape } from '../../vocabulary/shapes/read-shape.js';
import { ruleCondition } from './condition.js';
import { ruleRecipient, type RuleContent } from './rule.js';

/** A rule's content as a body gives it, before its deeper parts are checked. */
export type GivenRule = Omit<RuleContent, 'id' | 'condition' | 'recipient'> & {
  readonly condition: object | null;
  readonly recipient: object;
};

/**
 * The deeper parts, checked. A recipient that is there already stays.
 * @throws Problem `validation_failed`, `invalid_address`
 */
export function checkRule(
  rule: GivenRule,
  before?: RuleContent['recipient'],
): Pick<RuleContent, 'condition' | 'recipient'> {
  const errors = new FieldErrors();
  const add = (pointer: string, code: FieldCode, detail: string): void =>
    errors.add({ pointer, code, detail });
  if (rule.eventType === 'core.event.recorded' && rule.eventName === null) {
    add('/event_name', 'required', '`event_name` is required with core.event.recorded.');
  }
  if (rule.eventType !== 'core.event.recorded' && rule.eventName !== null) {
    add('/event_name', 'not_allowed', 'Only core.event.recorded has a name.');
  }
  const condition =
    rule.condition === null ? null : tryShape(ruleCondition, rule.condition, '/condition', errors);
  const recipient = tryShape(ruleRecipient, rule.recipient, '/recipient', errors);
  const check = sameJson(rule.recipient, before) ? checkAddress : checkNewAddress;
  if (recipient?.from === 'address' && !check(rule.channel, recipient.value)) {
    add('/recipient/value', 'invalid_address', `Expected one bare address of the channel ${rule.channel}.`);
  }
  if (errors.total > 0 || condition === undefined || recipient === undefined)
    throw Problem.validation(errors);
  return { condition, recipient };
}

/**
 * What the rule points to: a template of its channel that is not deleted (locked, so that no purge overtakes the rule)
 * and a topic of the settings.
 * @throws Problem `reference_not_found`, `reference_deleted`, `validation_failed`
 */
export async function checkReferences(
  tx: Transaction,
  rule: Pick<RuleContent, 'templateId' | 'channel' | 'topic'>,
  plans: ChannelPlans,
): Promise<void> {
  const [template] = await tx.query<{ channel: string; deleted_at: Date | null }>(
    `SELECT channel, deleted_at FROM templates
      WHERE organization_id = $1 AND id = $2 AND kind = 'message' FOR KEY SHARE`,
    [tx.organizationId, rule.templateId],
  );
  const refuse = (pointer: string, code: FieldCode, detail: string): Problem =>
    Problem.validation([{ pointer, code, detail }]);
  if (!template) throw refuse('/template_id', 'reference_not_found', 'There is no such template.');
  if (template.deleted_at) throw refuse('/template_id', 'reference_deleted', 'The template is deleted.');
  if (template.channel !== rule.channel) {
    throw refuse('/template_id', 'not_allowed', `The template is of the channel ${template.channel}.`);
  }
  if (rule.topic !== null) checkTopicAmong((await plans.of(tx)).topics, rule.topic, rule.channel);
}
