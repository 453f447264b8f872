/** A step of a plan as `EXPLAIN (ANALYZE, FORMAT JSON)` tells it. */
export interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How many rows of a table a plan read, over all its loops, those that it threw away included. */
export function rowsRead(node: PlanNode, table: string): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const here = node['Relation Name'] === table ? (node['Actual Rows'] + removed) * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, inner) => sum + rowsRead(inner, table), here);
}
