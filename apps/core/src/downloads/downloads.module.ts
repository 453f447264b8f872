import { Module } from '@nestjs/common';
import { Downloads } from './downloads.js';

/** Files that are handed over piece by piece. */
@Module({ providers: [Downloads], exports: [Downloads] })
export class DownloadsModule {}
