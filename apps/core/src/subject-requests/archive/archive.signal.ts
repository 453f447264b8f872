import { Injectable } from '@nestjs/common';
import { JobSignal } from '@customer-platform/http';

/** Tells the runner of this process that an archive is wanted; that of another process looks by itself. */
@Injectable()
export class ArchiveSignal extends JobSignal {}
