import type { Transaction } from '@customer-platform/database';
import { SegmentIndex, type LiveSegments } from '../vocabulary/rules/segment-index.js';

/** One statement, and so one instant: the evaluator reads while others change segments. */
const LIVE = `
  SELECT (SELECT revision FROM segment_revisions WHERE organization_id = $1) AS revision,
         ARRAY(SELECT jsonb_build_object('id', segment.id, 'rule', segment.rule, 'phase', build.phase, 'cause', build.cause)
                 FROM segments AS segment
                 LEFT JOIN segment_builds AS build
                   ON build.organization_id = segment.organization_id AND build.segment_id = segment.id
                WHERE segment.organization_id = $1 AND segment.deleted_at IS NULL
                ORDER BY segment.id) AS segments,
         ARRAY(SELECT jsonb_build_object('id', id, 'fingerprint', fingerprint)
                 FROM segment_conditions WHERE organization_id = $1 AND state <> 'dropped') AS conditions,
         ARRAY(SELECT jsonb_build_object('key', key, 'next', next, 'memberVisible', member_visible, 'declared', jsonb_build_object(
                        'type', type, 'enum', enum, 'max_length', max_length, 'min', min, 'max', max),
                      'converting', EXISTS (SELECT FROM attribute_conversions
                                             WHERE organization_id = $1 AND definition_id = definition.id))
                 FROM attribute_definitions AS definition
                WHERE organization_id = $1 AND deleted_at IS NULL ORDER BY key) AS attributes`;

/** Reads the segments of the transaction's organization as they are now. */
export async function liveSegments(tx: Transaction): Promise<SegmentIndex> {
  const [live] = await tx.query<LiveSegments>(LIVE, [tx.organizationId]);
  return new SegmentIndex(live ?? { revision: null, segments: [], conditions: [], attributes: [] });
}
