import { Module } from '@nestjs/common';
import { ErasedIdentifiers } from './erased-identifiers.js';

/** Which identifiers create nothing any more. */
@Module({ providers: [ErasedIdentifiers], exports: [ErasedIdentifiers] })
export class BlocklistModule {}
