export { ErasureModule } from './erasure.module.js';
export { erasureReceiptsTable } from './erasure-receipts.table.js';
export { Erasures, type DoneErasure, type ErasureRequested, type OwnErasure } from './erasures.js';
export {
  openReceipt,
  RECEIPT_KEYS_SHOWN_FOR_MS,
  receiptKeyId,
  RECEIPTS,
  signReceipt,
  type ErasedCounts,
  type ErasingModule,
} from './receipts.js';
