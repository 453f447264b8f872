/**
 * Whether a suppression stands against a send: check 6 of messaging.md §1.
 * @param c the alias of the send in the statement, with its `organization_id`, `channel` and the `keys` of its address
 */
export function suppressed(c: string): string {
  return `EXISTS (SELECT 1 FROM suppressions x WHERE x.organization_id = ${c}.organization_id
        AND x.channel = ${c}.channel AND x.key = ANY(${c}.keys))`;
}

/**
 * Whether a person wants no marketing of the kind that a send is.
 * @param c the alias of the send, with `organization_id`, `category`, `channel`, `topic` and the `subjects` of the person
 */
export function optedOut(c: string): string {
  return `(${c}.category = 'marketing' AND EXISTS (SELECT 1 FROM preferences p
        WHERE p.organization_id = ${c}.organization_id AND p.subject = ANY(${c}.subjects)
        AND p.channel = ${c}.channel AND p.topic IN ('', coalesce(${c}.topic, '')) AND NOT p.subscribed))`;
}
