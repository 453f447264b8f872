/** What every organization begins with (crm.md §2): names by key. */
export const FIRST_TYPES = { call: 'Call', email: 'Email', meeting: 'Meeting', task: 'Task' } as const;
