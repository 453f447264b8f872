/** The program of {@link Balancers}: it does as it is told over its channel, and ends with whoever started it. */
import { Balancer } from './balancer.ts';
import type { Order } from './balancers.ts';

const balancers = new Map<number, Balancer>();

async function obey({ address, what, port }: Order): Promise<void> {
  if (what === 'listen') balancers.set(address, await Balancer.listen(address));
  else balancers.get(address)?.[what](port);
}

process.on('message', (order: Order) => {
  obey(order).then(
    () => process.send?.({ id: order.id }),
    (error: Error) => process.send?.({ id: order.id, error: error.message }),
  );
});
process.once('disconnect', () => process.exit());
