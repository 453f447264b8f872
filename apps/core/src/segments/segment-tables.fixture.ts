import { COUNTED, NOBODY, type TenantTables } from '@customer-platform/testing';

/** What becomes of the columns of segments' own tables; see the module's list. */
export const SEGMENT_TABLES: TenantTables = {
  segment_builds: {
    technical: {
      'segments/building/segment-builder.ts: work under way':
        'segment_id cause correlation_id phase cursor_id',
    },
    organization: 'follows from segments',
    archive: NOBODY,
    removed: 'by segments/building/segment-builder.ts',
  },
  segment_changes: {
    erased: 'id contact_id cause touched correlation_id event_id attempts not_before',
    organization: 'follows from segments',
    archive: 'work under way',
    removed: 'by segments/evaluating/change-queue.ts',
  },
  segment_clocks: {
    technical: { 'segments/evaluating/segment-clock.ts: up to when windows have ended': 'reached_at' },
    organization: 'follows from segments',
    archive: NOBODY,
    removed: 'stays: one of an organization',
  },
  segment_condition_uses: {
    technical: {
      'segments/building/rule-registry.ts: which segment asks for what': 'segment_id condition_id',
    },
    organization: 'follows from segments',
    archive: NOBODY,
    removed: 'by segments/building/rule-registry.ts',
  },
  segment_conditions: {
    kept: { 'segments/building/rule-registry.ts: what staff asks for': 'event fingerprint' },
    technical: {
      'segments/building/segment-builder.ts: how far it has been counted': 'id state cursor_at cursor_id',
    },
    organization: 'follows from segments',
    archive: NOBODY,
    removed: 'by segments/building/segment-builder.ts',
  },
  segment_dues: {
    erased: 'contact_id due_at segment_ids due_ats',
    organization: 'follows from segments',
    archive: 'work under way',
    removed: 'by segments/evaluating/due-times.ts',
  },
  segment_matches: {
    erased: 'condition_id contact_id occurred_at event_id',
    organization: 'follows from segments',
    archive: 'follows from events',
    removed: 'by segments/building/segment-builder.ts',
  },
  segment_members: {
    erased: 'id segment_id contact_id entered_at cause left_at left_cause',
    organization: 'follows from segments',
    archive: { as: 'segments', withheld: { 'whose row it is, which the question says': 'id contact_id' } },
    removed: 'by segments/building/segment-builder.ts',
  },
  segment_removals: {
    technical: { 'segments/building/rule-registry.ts: work under way': 'segment_id' },
    organization: 'follows from segments',
    archive: NOBODY,
    removed: 'by segments/building/segment-builder.ts',
  },
  segment_revisions: {
    technical: { 'segments/building/rule-registry.ts: tells instances that rules have changed': 'revision' },
    organization: 'follows from segments',
    archive: NOBODY,
    removed: 'stays: one of an organization',
  },
  segments: {
    kept: { 'segments/segment.dto.ts: what staff asks for': 'name description rule rule_version' },
    technical: {
      'segments/segment.dto.ts: what came of it': 'state member_count evaluated_at',
      'segments/segment.dto.ts: the row and its times': 'id created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
};
