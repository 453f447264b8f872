export { ErasureModule } from './erasure.module.js';
export { erasureReceiptsTable } from './erasure-receipts.table.js';
export { Erasures, RECEIPTS, type ErasedCounts, type ErasureRequested } from './erasures.js';
