import { define } from './problem-definition.js';

/** Codes of the core module. */
export const coreProblems = define({
  invalid_segment_rule: [
    400,
    'Invalid segment rule',
    'The rule of the segment is not well-formed or exceeds its limits.',
    'Correct the rule at the pointer in `errors`.',
  ],
  attribute_type_mismatch: [
    400,
    'Attribute type mismatch',
    'An attribute has another type than its definition declares.',
    'Send the declared type; no value is converted.',
  ],
  schema_violation: [
    400,
    'Schema violation',
    'The event breaks the schema that the organization enforces for it.',
    'Send the properties that the installed taxonomy describes.',
  ],
  invalid_mapping: [
    400,
    'Invalid mapping',
    'A column of the import is not mapped, or is mapped to a field that does not exist.',
    'Map every column to a field, or to null to leave it out.',
  ],
  invalid_subject_token: [
    400,
    'Invalid subject token',
    'The subject token is invalid, or names nobody who can be given a member token.',
    'Send a token or an external id of an active contact.',
  ],
  result_expired: [
    404,
    'Result expired',
    'The result of the request was kept for its time and has been removed.',
    'Open a new request.',
  ],
  last_identity: [
    409,
    'Last identity',
    'A contact keeps at least one identity.',
    'Add another identity first, or delete the contact.',
  ],
  merge_blocked: [
    409,
    'Merge blocked',
    'The two contacts cannot be merged as they are.',
    'Resolve what `blockers` lists, or say with `keep` which value stays.',
  ],
  already_merged: [
    409,
    'Already merged',
    'One of the contacts has been merged already.',
    'Go on with the contact in `survivor_id`.',
  ],
  contact_merged: [
    409,
    'Contact merged',
    'The contact was merged into another and takes no change.',
    'Use the contact in `survivor_id`.',
  ],
  merge_not_undoable: [
    409,
    'Merge cannot be undone',
    'A later merge, an erasure or a purge stands in the way.',
    'Undo later merges first; after an erasure or a purge it stays.',
  ],
  not_replayable: [
    409,
    'Not replayable',
    'The dead letter is closed for good.',
    'Nothing can be done; `closed_reason` tells why.',
  ],
  attribute_migration_conflict: [
    409,
    'Attribute migration conflict',
    'Changing the type would lose values that cannot be converted.',
    'Look at them with `dry_run`, correct them, or send `on_failure: clear`.',
  ],
  request_type_unavailable: [
    422,
    'Request type unavailable',
    'Requests of this type are not carried out by the platform yet.',
    'Open a request of another type; answer this one outside the platform.',
  ],
  subject_erased: [
    409,
    'Subject erased',
    'The person asked for erasure, so nothing is created for this identifier.',
    'Send `readmit_reason` if the person has come back.',
  ],
});
