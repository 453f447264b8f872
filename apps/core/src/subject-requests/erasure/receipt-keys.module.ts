import { Module } from '@nestjs/common';
import { SigningKeysModule } from '@customer-platform/database';
import { ReceiptKeys } from './receipt-keys.js';

/** By which keys receipts of erasures are verified, and by which core signs its own. */
@Module({
  imports: [SigningKeysModule.forRoot({ module: 'core' })],
  providers: [ReceiptKeys],
  exports: [ReceiptKeys, SigningKeysModule],
})
export class ReceiptKeysModule {}
