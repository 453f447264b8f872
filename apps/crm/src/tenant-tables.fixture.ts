import { COUNTED, NOBODY, type TenantTables } from '@customer-platform/testing';

/** What becomes of the columns of crm's tables: on an erasure, in an archive, in the course of time. */
export const CRM_TENANT_TABLES: TenantTables = {
  activities: {
    erased:
      'id contact_id origin_contact_id type_id subject description due_at assignee_id status outcome values completed_at author_type author_id created_at updated_at deleted_at',
    organization: COUNTED,
    archive: {
      as: 'activities',
      withheld: {
        'whose row it is, which the question says': 'contact_id origin_contact_id',
        'its name is given': 'type_id',
        'who of staff': 'assignee_id author_type author_id',
        'of what staff deleted the rest is given': 'deleted_at',
      },
    },
    removed: 'stays: until staff or the end of the contact takes it',
  },
  activity_types: {
    kept: {
      'activity-types/activity-type.dto.ts: what staff called a type and asks of it':
        'key name outcomes outcome_required fields',
    },
    technical: {
      'activity-types/activity-type.dto.ts: the row and its times': 'id created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
  contact_erasures: {
    technical: {
      'contact-refs/erasures-under-way.ts: an erasure that is not done yet, and what it has counted':
        'subject_request_id contact_ids counts correlation_id causation_id begun_at',
    },
    organization: 'ends within minutes of its request',
    archive: NOBODY,
    removed: 'by contact-refs/erasures-under-way.ts',
  },
  contact_record_jobs: {
    technical: {
      'objects/records/contact-record-jobs.ts: whose records are on their way, and how far that has come':
        'contact_id contacts cursor_id moved_at',
    },
    organization: 'ends within minutes of an event of core',
    archive: NOBODY,
    removed: 'by objects/records/contact-record-jobs.ts',
  },
  contact_refs: {
    technical: {
      'unread: when it was last written': 'updated_at',
      'libs/contact-refs/src/contact-statements.ts: that a contact is gone, so that nothing is written about it again':
        'id state merged_into version',
    },
    organization: 'follows from contacts of core',
    archive: 'core gives the contact',
    removed: 'stays: it says that the contact is gone',
  },
  list_members: {
    erased: 'list_id origin_contact_id contact_id shown added_at added_by_type added_by_id',
    organization: 'goes with lists',
    archive: {
      as: 'lists',
      withheld: {
        'whose row it is, which the question says': 'contact_id origin_contact_id',
        'follows from the state of the contact': 'shown',
        'who of staff': 'added_by_type added_by_id',
      },
    },
    removed: 'stays: until staff or the end of the contact takes it',
  },
  lists: {
    kept: { 'lists/list.dto.ts: what staff called a list': 'name description' },
    technical: {
      'lists/list.dto.ts: counts': 'member_count',
      'lists/list.dto.ts: the row and its times': 'id created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
  notes: {
    erased:
      'id contact_id origin_contact_id body pinned author_type author_id created_at updated_at deleted_at',
    organization: COUNTED,
    archive: {
      as: 'notes',
      withheld: {
        'whose row it is, which the question says': 'contact_id origin_contact_id',
        'who of staff wrote it': 'author_type author_id',
      },
    },
    removed: 'stays: until staff or the end of the contact takes it',
  },
  object_claims: {
    erased: 'definition_id number value record_id',
    organization: 'follows from object_records',
    archive: 'the values stand in objects',
    removed: 'stays: goes with object_records',
  },
  object_definitions: {
    kept: {
      'objects/definitions/object-definition.dto.ts: what staff called an object and its fields':
        'slug name fields indexes',
    },
    technical: {
      'objects/definitions/object-definition.entity.ts: numbers of fields and of changes':
        'next_number revision',
      'objects/definitions/object-definition.dto.ts: the row and its times':
        'id created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
  object_ids: {
    erased: 'definition_id number value record_id live',
    organization: 'follows from object_records',
    archive: 'the values stand in objects',
    removed: 'stays: goes with object_records',
  },
  object_index_jobs: {
    technical: {
      'objects/indexing/index-jobs.ts: how far an index has been filled':
        'definition_id number work cursor_id processed total',
      'objects/indexing/index-builder.ts: how far an index has been filled': 'moved_at',
    },
    organization: 'goes with object_definitions',
    archive: NOBODY,
    removed: 'by objects/indexing/index-builder.ts',
  },
  object_numbers: {
    erased: 'definition_id number value record_id live',
    organization: 'follows from object_records',
    archive: 'the values stand in objects',
    removed: 'stays: goes with object_records',
  },
  object_records: {
    erased: 'id definition_id values created_at updated_at deleted_at',
    organization: COUNTED,
    archive: { as: 'objects', withheld: { 'its slug is given': 'definition_id' } },
    removed: 'stays: until staff or the end of the contact takes it',
  },
  object_references: {
    erased: 'record_id field definition_id contact_id origin_contact_id target_id',
    organization: 'follows from object_records',
    archive: {
      as: 'objects',
      withheld: {
        'whose row it is, which the question says': 'contact_id origin_contact_id',
        'which field leads to the contact stands in the values': 'field target_id',
        'given as those of the record': 'record_id definition_id',
      },
    },
    removed: 'by objects/records/derived-rows.ts',
  },
  object_tallies: {
    kept: { 'objects/definitions/tallies.ts: numbers of records by field: figures': 'held active_held' },
    technical: { 'objects/definitions/tallies.ts: how many there are': 'definition_id shard records active' },
    organization: 'goes with object_definitions',
    archive: NOBODY,
    removed: 'by objects/definitions/tallies.ts',
  },
  object_texts: {
    erased: 'definition_id number value record_id live',
    organization: 'follows from object_records',
    archive: 'the values stand in objects',
    removed: 'stays: goes with object_records',
  },
  object_times: {
    erased: 'definition_id number value record_id live',
    organization: 'follows from object_records',
    archive: 'the values stand in objects',
    removed: 'stays: goes with object_records',
  },
};
