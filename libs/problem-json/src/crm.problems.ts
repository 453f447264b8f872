import { define } from './problem-definition.js';

/** Codes of the crm module. */
export const crmProblems = define({
  list_full: [409, 'List full', 'The list would hold more members than it can.', 'Use another list.'],
  field_in_use: [
    409,
    'Field in use',
    'Records hold a value that the change would not allow.',
    'Archive the field, or clear the values in `field` first.',
  ],
  records_incompatible: [
    409,
    'Records incompatible',
    'Active records do not fit the changed definition.',
    'Correct the records first.',
  ],
  definition_deleted: [
    409,
    'Definition deleted',
    'The definition of the object is soft-deleted.',
    'Restore the definition first.',
  ],
  index_building: [
    409,
    'Index building',
    'The field has just been indexed and cannot filter or sort yet.',
    'Repeat the call when `index_state` is `ready`.',
  ],
});
