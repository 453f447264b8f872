/** The permissions of the loyalty module: what each lets its holder do. */
export const loyaltyPermissions = {
  'loyalty.balances.read': 'Read point balances',
  'loyalty.rules.create': 'Create earning rules',
  'loyalty.rules.delete': 'Soft-delete and restore earning rules',
  'loyalty.rules.purge': 'Remove soft-deleted earning rules for good',
  'loyalty.rules.read': 'Read earning rules',
  'loyalty.rules.update': 'Change earning rules',
  'loyalty.transactions.create': 'Adjust, spend and reverse points',
  'loyalty.transactions.read': 'Read point transactions',
} as const;
