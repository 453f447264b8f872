import type { DescribedEvent, Taxonomy } from '../taxonomy.js';
import {
  address,
  amount,
  count,
  currency,
  event,
  flag,
  instant,
  list,
  object,
  oneOf,
  text,
} from './parts.js';

const product = {
  product_id: text('Identifier of the product in the shop.'),
  sku: text('Stock keeping unit: the variant that is sold.'),
  name: text('Name as the shop shows it.'),
  brand: text('Brand of the product.'),
  category: text('Category, from the widest to the narrowest, such as `Home/Kitchen`.'),
  variant: text('What tells it from others of its kind, such as a size or a color.'),
  price: amount('Price of one, in minor units.'),
  currency,
  quantity: count('How many of it.'),
  position: count('Place in the list in which it was shown, from 1.'),
  url: address('Page of the product.'),
  image_url: address('Picture of the product.'),
};
const { quantity: _quantity, position: _position, ...seen } = product;

const line = object('A line of the cart or order.', ['product_id', 'quantity'], {
  product_id: product.product_id,
  sku: product.sku,
  name: product.name,
  category: product.category,
  variant: product.variant,
  price: product.price,
  quantity: product.quantity,
});
const lines = list('What it holds, line by line.', line, 200);

const cart_id = text('Identifier of the cart.');
const checkout_id = text('Identifier of the checkout.');
const order_id = text('Identifier of the order.');
const coupon = text('Code of the coupon.', 100);
const list_id = text('Identifier of the list.');
const shipping_method = text('How it is sent, such as `home_delivery`.', 100);
const payment_method = text('How it is paid, such as `credit_card`.', 100);

const totals = {
  subtotal: amount('The lines, before discounts, taxes and shipping.'),
  discount: amount('Taken off the subtotal.'),
  tax: amount('Taxes within or on top of the total.'),
  shipping: amount('What sending costs the buyer.'),
  total: amount('What the buyer pays.'),
  currency,
};
const order = { order_id, checkout_id, ...totals, coupon, products: lines };

const MUG = {
  product_id: 'P-1042',
  sku: 'MUG-BLUE-350',
  name: 'Blue mug, 350 ml',
  price: 8990,
  currency: 'CLP',
};
const MUG_LINE = {
  product_id: 'P-1042',
  sku: 'MUG-BLUE-350',
  name: 'Blue mug, 350 ml',
  price: 8990,
  quantity: 2,
};
const ORDER = {
  order_id: 'O-50017',
  subtotal: 17980,
  discount: 1798,
  tax: 2584,
  shipping: 3490,
  total: 19672,
  currency: 'CLP',
  coupon: 'WELCOME10',
  products: [MUG_LINE],
};

const looking: readonly DescribedEvent[] = [
  event('products_searched', 'Somebody searched the shop.', {
    required: ['query'],
    properties: {
      query: text('What was searched for, as it was typed.', 500),
      results: count('How many products were found.', 0),
      sort: text('Order in which they were shown.', 100),
      filters: list(
        'Filters that were set, each as name and value.',
        object('A filter.', ['name', 'value'], {
          name: text('Name of the filter.', 100),
          value: text('Value that was chosen.'),
        }),
        20,
      ),
    },
    example: {
      query: 'blue mug',
      results: 14,
      sort: 'price',
      filters: [{ name: 'brand', value: 'Loza Sur' }],
    },
  }),
  event(
    'product_list_viewed',
    'A list of products was shown: a category, a collection, the results of a search.',
    {
      required: ['list_id'],
      properties: {
        list_id,
        category: product.category,
        products: list(
          'The products that were shown.',
          object('A product of the list.', ['product_id'], {
            product_id: product.product_id,
            name: product.name,
            price: product.price,
            position: product.position,
          }),
        ),
        currency,
      },
      example: {
        list_id: 'kitchen-new',
        category: 'Home/Kitchen',
        products: [{ product_id: 'P-1042', name: 'Blue mug, 350 ml', price: 8990, position: 1 }],
        currency: 'CLP',
      },
    },
  ),
  event('product_list_filtered', 'The products of a list were narrowed down or put in another order.', {
    required: ['list_id'],
    properties: {
      list_id,
      sort: text('Order that was chosen.', 100),
      filters: list(
        'Filters that are set.',
        object('A filter.', ['name', 'value'], {
          name: text('Name of the filter.', 100),
          value: text('Value that was chosen.'),
        }),
        20,
      ),
      results: count('How many products are left.', 0),
    },
    example: {
      list_id: 'kitchen-new',
      sort: 'price',
      filters: [{ name: 'color', value: 'blue' }],
      results: 6,
    },
  }),
  event('product_clicked', 'A product was chosen from a list.', {
    required: ['product_id'],
    properties: { ...seen, list_id, position: product.position },
    example: { ...MUG, list_id: 'kitchen-new', position: 1 },
  }),
  event('product_viewed', 'The page of a product was shown.', {
    required: ['product_id'],
    properties: seen,
    example: { ...MUG, brand: 'Loza Sur', category: 'Home/Kitchen', url: 'https://shop.example/mugs/blue' },
  }),
  event('product_shared', 'A product was sent to others.', {
    required: ['product_id', 'channel'],
    properties: { ...seen, channel: text('By what it was shared, such as `whatsapp`.', 100) },
    example: { product_id: 'P-1042', name: 'Blue mug, 350 ml', channel: 'whatsapp' },
  }),
  event('product_reviewed', 'A product was rated.', {
    required: ['product_id', 'rating'],
    properties: {
      product_id: product.product_id,
      order_id,
      rating: { type: 'number', description: 'From 1, the worst, to 5.', minimum: 1, maximum: 5 },
      review: text('What was written.', 5_000),
    },
    example: { product_id: 'P-1042', order_id: 'O-50017', rating: 5, review: 'Keeps the coffee warm.' },
  }),
];

const promotion = {
  promotion_id: text('Identifier of the promotion.'),
  name: text('Name of the promotion.'),
  creative: text('Which picture or text was shown.'),
  placement: text('Where it was shown, such as `home_top`.', 100),
};
const PROMOTION = { promotion_id: 'winter-sale', name: 'Winter sale', placement: 'home_top' };

const offers: readonly DescribedEvent[] = [
  event('promotion_viewed', 'A promotion was shown within the shop.', {
    required: ['promotion_id'],
    properties: promotion,
    example: PROMOTION,
  }),
  event('promotion_clicked', 'A promotion was followed.', {
    required: ['promotion_id'],
    properties: promotion,
    example: { ...PROMOTION, creative: 'banner-b' },
  }),
  event('coupon_applied', 'A coupon was taken for a cart or an order.', {
    required: ['coupon'],
    properties: { coupon, cart_id, order_id, discount: amount('What it takes off.'), currency },
    example: { coupon: 'WELCOME10', cart_id: 'C-7781', discount: 1798, currency: 'CLP' },
  }),
  event('coupon_denied', 'A coupon was entered and not taken.', {
    required: ['coupon', 'reason'],
    properties: {
      coupon,
      cart_id,
      reason: oneOf('Why not.', 'unknown', 'expired', 'used', 'not_applicable', 'minimum_not_met', 'other'),
    },
    example: { coupon: 'SUMMER25', cart_id: 'C-7781', reason: 'expired' },
  }),
  event('coupon_removed', 'A coupon was taken off again.', {
    required: ['coupon'],
    properties: { coupon, cart_id, order_id, discount: amount('What it had taken off.'), currency },
    example: { coupon: 'WELCOME10', cart_id: 'C-7781', discount: 1798, currency: 'CLP' },
  }),
];

const inCart = { cart_id, ...product };
const IN_CART = { cart_id: 'C-7781', ...MUG, quantity: 2 };

const buying: readonly DescribedEvent[] = [
  event('wishlist_product_added', 'A product was put on a wish list.', {
    required: ['product_id'],
    properties: { wishlist_id: text('Identifier of the wish list.'), ...seen },
    example: { wishlist_id: 'W-310', ...MUG },
  }),
  event('wishlist_product_removed', 'A product was taken from a wish list.', {
    required: ['product_id'],
    properties: { wishlist_id: text('Identifier of the wish list.'), ...seen },
    example: { wishlist_id: 'W-310', product_id: 'P-1042' },
  }),
  event('product_added', 'A product was put into the cart.', {
    required: ['product_id', 'quantity'],
    properties: inCart,
    example: IN_CART,
  }),
  event('product_removed', 'A product was taken out of the cart.', {
    required: ['product_id'],
    properties: inCart,
    example: { ...IN_CART, quantity: 1 },
  }),
  event('cart_viewed', 'The cart was shown.', {
    required: ['products'],
    properties: { cart_id, total: totals.total, currency, products: lines },
    example: { cart_id: 'C-7781', total: 17980, currency: 'CLP', products: [MUG_LINE] },
  }),
  event('cart_abandoned', 'A cart was left with something in it for as long as the shop waits.', {
    required: ['cart_id', 'products'],
    properties: {
      cart_id,
      total: totals.total,
      currency,
      products: lines,
      last_changed_at: instant('When something was put in or taken out last.'),
      recovery_url: address('Where the cart can be taken up again.'),
    },
    example: {
      cart_id: 'C-7781',
      total: 17980,
      currency: 'CLP',
      products: [MUG_LINE],
      last_changed_at: '2026-11-21T09:30:00-03:00',
      recovery_url: 'https://shop.example/cart/C-7781',
    },
  }),
  event('checkout_started', 'Somebody began to check out.', {
    required: ['products'],
    properties: { checkout_id, cart_id, ...totals, coupon, products: lines },
    example: { checkout_id: 'K-901', cart_id: 'C-7781', total: 19672, currency: 'CLP', products: [MUG_LINE] },
  }),
  event('checkout_step_completed', 'A step of the checkout was done.', {
    required: ['checkout_id', 'step'],
    properties: {
      checkout_id,
      step: count('Which one, from 1.'),
      name: text('What the step is called.', 100),
      shipping_method,
      payment_method,
    },
    example: { checkout_id: 'K-901', step: 2, name: 'shipping', shipping_method: 'home_delivery' },
  }),
  event(
    'payment_info_entered',
    'It was said how the order will be paid. Never numbers of cards or accounts.',
    {
      required: ['payment_method'],
      properties: { checkout_id, order_id, payment_method },
      example: { checkout_id: 'K-901', payment_method: 'credit_card' },
    },
  ),
];

const shipment = {
  order_id,
  shipment_id: text('Identifier of the shipment.'),
  carrier: text('Who carries it.', 100),
  tracking_number: text('Number by which the carrier knows it.', 100),
  tracking_url: address('Where the shipment can be followed.'),
  products: lines,
};
const SHIPMENT = {
  order_id: 'O-50017',
  shipment_id: 'S-880',
  carrier: 'Correos',
  tracking_number: 'CL880001234',
  tracking_url: 'https://carrier.example/t/CL880001234',
};

const orders: readonly DescribedEvent[] = [
  event('order_completed', 'An order was placed and confirmed.', {
    required: ['order_id', 'total', 'currency', 'products'],
    properties: { ...order, shipping_method, payment_method },
    example: { ...ORDER, payment_method: 'credit_card' },
  }),
  event(
    'purchase_completed',
    'Something was bought and paid, wherever: the least that a sale says of itself.',
    {
      required: ['amount', 'currency'],
      properties: {
        amount: amount('What was paid, in minor units.'),
        currency,
        invoice_id: text('Number of the invoice or receipt.'),
        order_id,
        store_id: text('Where it was bought.'),
        payment_method,
        products: lines,
      },
      example: { amount: 12990, currency: 'CLP', invoice_id: 'B-1001', store_id: 'providencia' },
    },
  ),
  event('order_updated', 'An order was changed after it was placed.', {
    required: ['order_id'],
    properties: { ...order, shipping_method },
    example: { order_id: 'O-50017', total: 10682, currency: 'CLP', products: [{ ...MUG_LINE, quantity: 1 }] },
  }),
  event('order_cancelled', 'An order was called off.', {
    required: ['order_id'],
    properties: {
      ...order,
      reason: text('Why.', 500),
      cancelled_by: oneOf('By whom.', 'customer', 'merchant', 'system'),
    },
    example: {
      order_id: 'O-50017',
      total: 19672,
      currency: 'CLP',
      reason: 'Bought twice',
      cancelled_by: 'customer',
    },
  }),
  event('order_refunded', 'Money was given back for an order, all of it or some.', {
    required: ['order_id', 'amount', 'currency'],
    properties: {
      order_id,
      refund_id: text('Identifier of the refund.'),
      amount: amount('What was given back, in minor units.'),
      currency,
      full: flag('Whether that was all that had been paid.'),
      reason: text('Why.', 500),
      products: lines,
    },
    example: {
      order_id: 'O-50017',
      refund_id: 'R-77',
      amount: 8990,
      currency: 'CLP',
      full: false,
      reason: 'Broken',
    },
  }),
  event('order_shipped', 'An order, or a part of it, was handed to the carrier.', {
    required: ['order_id'],
    properties: { ...shipment, expected_at: instant('When it should arrive.') },
    example: { ...SHIPMENT, expected_at: '2026-11-25T18:00:00-03:00' },
  }),
  event('order_delivered', 'An order, or a part of it, has arrived.', {
    required: ['order_id'],
    properties: { ...shipment, delivered_at: instant('When it arrived.') },
    example: { order_id: 'O-50017', shipment_id: 'S-880', delivered_at: '2026-11-24T11:15:00-03:00' },
  }),
];

/** What happens in a shop, from the first look to the parcel at the door. */
export const ECOMMERCE_1: Taxonomy = {
  slug: 'ecommerce',
  version: '1.0.0',
  shippedAt: '2026-11-23T00:00:00.000Z',
  events: [...looking, ...offers, ...buying, ...orders],
};
