import { Injectable } from '@nestjs/common';
import { JobSignal } from '@customer-platform/http';

/** Tells the deliverer of this process, if there is one, that something is due. Others find it by looking regularly. */
@Injectable()
export class DeliverySignal extends JobSignal {}
