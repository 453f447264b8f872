/**
 * Whether a send was called off with the rule it is of: the rule is off, or was off since the send came into being and
 * is not through with cancelling (`RuleCancellation`). What no rule led to is not.
 * @param s the alias of the send in the statement
 */
export function calledOff(s: string): string {
  return `(${s}.source_id IS NOT NULL AND (
    EXISTS (SELECT 1 FROM event_routing r WHERE r.organization_id = ${s}.organization_id AND r.id = ${s}.source_id
      AND (NOT r.enabled OR r.deleted_at IS NOT NULL))
    OR EXISTS (SELECT 1 FROM background_jobs j WHERE j.organization_id = ${s}.organization_id
      AND j.kind = 'cancel_sends_of_rule' AND j.target_id = ${s}.source_id AND ${s}.created_at <= j.until)))`;
}

/** What the hand-offs of a rule's sends are in flight under, beside their addresses' keys. */
export function calledOffKey(ruleId: string): string {
  return `rule:${ruleId}`;
}
