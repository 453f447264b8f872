/**
 * Whether a send was called off with what it is of. With its rule: the rule is off, or was off since the send came into
 * being and is not through with cancelling (`RuleCancellation`). With the run of a campaign: it is canceled. What
 * neither led to is not.
 * @param s the alias of the send in the statement
 */
export function isCanceled(s: string): string {
  return `(${s}.source_id IS NOT NULL AND (
    EXISTS (SELECT 1 FROM event_routing r WHERE r.organization_id = ${s}.organization_id AND r.id = ${s}.source_id
      AND (NOT r.enabled OR r.deleted_at IS NOT NULL))
    OR EXISTS (SELECT 1 FROM background_jobs j WHERE j.organization_id = ${s}.organization_id
      AND j.kind = 'cancel_sends_of_rule' AND j.target_id = ${s}.source_id AND ${s}.created_at <= j.until)
    OR EXISTS (SELECT 1 FROM campaign_runs c WHERE c.organization_id = ${s}.organization_id AND c.id = ${s}.run_id
      AND c.state = 'canceled')))`;
}

/** Why such a send is canceled. */
export const cancellationReason = ({ runId }: { readonly runId: string | null }): string =>
  runId === null ? 'rule_disabled' : 'campaign_canceled';

/** Why a send waits whose campaign rests; it is let go when the campaign goes on (`RestingSends`). */
export const RESTING_REASON = 'campaign_paused';

/** Whether the campaign that a send is of rests. @param s the alias of the send in the statement */
export function resting(s: string): string {
  return `(${s}.run_id IS NOT NULL AND EXISTS (SELECT 1 FROM campaign_runs c
    WHERE c.organization_id = ${s}.organization_id AND c.id = ${s}.run_id AND c.paused))`;
}

/** What the hand-offs of a rule's or campaign's sends are in flight under, beside their addresses' keys. */
export function cancellationKey(sourceId: string): string {
  return `rule:${sourceId}`;
}
