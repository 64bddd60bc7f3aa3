/** Shops, money and parcels: what people say happens, beside what developers call it. */
import type { Topics } from "../topics.ts";

export const COMMERCE_SCENES: Topics = {
  "charged twice": `charged twice, billed twice, double charge, double charged, double payment, pay twice, paid twice,
    duplicate payment, duplicate charge, idempotent, idempotency, idempotency key, hammer, double click, double
    submit, tap buy, impatient, payment intent, stripe intent, two confirmations, same charge, debited twice, repeated
    post, twice on the statement`,
  "ordered twice": `duplicate order, duplicate orders, two parcels, ordered twice, two orders, same order twice,
    dedupe, dedupe key, deduplicate, double order, submit twice, several times, nervously, disable the button, order
    form, placed twice`,
  "card refused": `card declined, declined, refused card, payment fails, payment failed, insufficient funds, 3d
    secure, 3ds, sca, strong customer authentication, issuer, card expired, expired card, do not honor, authorisation
    declined, dunning, retry payment, payment method, bank rejects, cannot pay, can't pay`,
  "paying methods": `apple pay, google pay, paypal, klarna, sepa, direct debit, ideal, wallet payment, credit card,
    debit card, visa, mastercard, amex, stripe, adyen, braintree, mollie, checkout.com, square, worldpay, payment
    provider, psp, payment gateway, acquirer, pay by invoice, bank transfer, instalments, buy now pay later`,
  refunding: `refund, refunds, money back, reimburse, reimbursement, chargeback, dispute, disputed, credit note,
    cancel order, cancelled order, return goods, send back, sent back, give back, reversal, reversed, storno, void
    payment, compensation, goodwill`,
  "returned goods": `return, returns, rma, return label, send back, sent back, returned parcel, return portal,
    restock, return reason, exchange item, wrong size ordered, reverse logistics, unwanted`,
  "cart contents": `cart, basket, shopping bag, trolley, add to cart, cart empty, abandoned cart, cart item, line
    item, cart total, items disappear, forgets what i put, forgotten basket, guest cart, merge carts, mini cart,
    quantity field, left items`,
  "stock levels": `stock, in stock, out of stock, sold out, oversell, oversold, overselling, inventory, availability,
    last item, last one, negative stock, stock level, stock count, reserve stock, reserve inventory, reservation of
    stock, backorder, replenish, replenishment, reorder point, warehouse quantity, on hand, sellable, last piece`,
  "price shown": `price, prices, pricing, price list, price rule, unit price, list price, sale price, strike price,
    strikethrough, tiered pricing, wholesale price, price tag, cost more, too expensive, cheaper, gross price, net
    price, surcharge, price calculation, repricing`,
  "sums and cents": `rounding, rounds, rounded, off by a cent, one cent, cents, penny, pennies, do not add up, doesn't
    add up, don't add up, adds up, sum is wrong, totals, subtotal, decimal, decimals, bigdecimal, floating point,
    floats, float money, half even, banker's rounding, precision, cent difference, missing cents, totals differ,
    integer cents, money type`,
  "sales tax": `vat, sales tax, tax rate, tax class, gst, reverse charge, tax free, tax-free, tax exempt, vat id, oss,
    taxjar, avalara, duty free, withholding, excise, net amount, gross amount, tax jurisdiction, mwst`,
  "coupon codes": `coupon, voucher, promo code, discount code, gift card, promotion, campaign code, percent off,
    rebate, redemption, redeem, single use, stackable, loyalty, bonus points, loyalty points, cashback, reward points,
    black friday, happy hour, stacking discounts`,
  "product pages": `product page, product detail, pdp, product photo, product description, variants, size chart,
    colour choice, swatch, sku, ean, gtin, barcode number, product data, pim, attributes of products, product feed,
    merchandising`,
  "browsing a shop": `category, categories, facet, facets, filter products, product listing, plp, sort by price, shop
    filter, assortment, catalogue, catalog, outlet, product grid, browse, newest listings, listing, listings`,
  "finding in a shop": `search box, magnifier, magnifying glass, search results, looking for, look for, find a
    product, search ranking, relevance, synonyms, autocomplete, typeahead, suggestions, did you mean, typo tolerance,
    misspelled, zero results, no results, boost, boosting, elasticsearch, opensearch, solr, algolia, meilisearch,
    typesense, ranking, scorer, field weight, stemming, analyzer, analyser, comes first, page four, lucene, bm25,
    index documents, full text, full-text, fulltext, tsvector, fuzzy search, search query, hits`,
  "parcel tracking": `track parcel, parcel, parcels, package tracking, tracking number, tracking link, carrier, dhl,
    ups, fedex, usps, gls, dpd, hermes, shipment, shipment status, where is my order, in transit, delivered, out for
    delivery, track and trace, waybill, consignment, courier`,
  "shipping labels": `shipping label, shipping labels, zpl, zebra, label printer, thermal printer, packing slip,
    packing list, delivery note, label size, airway bill, parcel label, 4x6, print label, labels are printed, printed
    label`,
  "shipping cost": `shipping cost, shipping costs, postage, shipping rate, shipping rates, delivery fee, free
    shipping, shipping method, shipping zone, weight based, volumetric, freight cost, delivery charge, zip code rates`,
  "delivery rounds": `route optimisation, route optimization, routing engine, two-opt, 2-opt, or-tools, ortools, vrp,
    vehicle routing, travelling salesman, tsp, tour, tours, tour optimiser, delivery tours, stops, stop sequence, stop
    ordering, visit order, shortest route, kilometres, km, mileage, detour, detours, zigzag, across town, drivers
    sent, couriers, trucks, lorries, vans, dispatcher, greedy, local search, milk run, round trip, total distance,
    smarter sequence, fewer miles, fuel, criss-cross, back and forth`,
  "arrival times": `eta, estimated arrival, arrival time, time of arrival, estimated time, estimated delivery,
    delivery window, time slot, time window, late arrival, when will it arrive, delay prediction, smoothing, jumps
    around, arrival jumps`,
  "proof of delivery": `proof of delivery, pod photo, signature capture, signed for, left at door, neighbour, delivery
    photo, doorstep, safe place, handover photo, recipient signature`,
  warehouse: `warehouse, picking, picker, pick list, pick path, packing station, storage bin, bin location, shelf,
    pallet, forklift, scanner gun, handheld, handheld scanner, barcode scanner, goods receipt, inbound, outbound,
    stocktaking, inventory count, cycle count, wms, put away, putaway, cross dock, loading dock, conveyor, conveyor
    belt`,
  customs: `customs, customs declaration, hs code, tariff number, incoterms, import duty, duties, export papers,
    commercial invoice, clearance, border, certificate of origin, broker clearance`,
  "sea freight": `vessel, ship, ships, container ship, port of call, harbour, harbor, berth, freight container,
    container tracking, bill of lading, cargo, sailing, ais, imo number, terminal operator, teu, demurrage, port
    congestion, captain`,
  fleet: `fleet, vehicle, vehicles, truck, trucks, lorry, van, vans, driver, drivers, logbook, driver logbook,
    tachograph, driving time, telematics, odometer, mileage, fuel card, refuel, tank, obd, can logger, geofence,
    dispatch, vehicle tracking, car, cars, used cars, dealer, dealership, model year, mot, inspection, tyre`,
  "ride hailing": `ride, rides, taxi, cab, passenger, rider, pickup, pick-up, drop-off, surge, fare, ride ends, driver
    app, matching drivers, e-scooter, bike sharing, scooter, unlock bike, car sharing, carpool`,
  marketplace: `marketplace, seller, sellers, vendor, vendors, merchant, merchants, payout, payouts, commission,
    commissions, seller fee, listing fee, escrow, split payment, connected account, seller onboarding, buyer, buyers,
    auction, bid, bids, bidding`,
  "plans and renewals": `subscription, subscriptions, subscriber, subscribers, renewal, renew, auto-renew, recurring,
    recurring payment, monthly plan, annual plan, plan change, upgrade plan, downgrade, proration, prorate, trial,
    free trial, trial period, cancel subscription, churn, paywall, seat based, entitlement, entitlements, billing
    cycle, plan limits, paying customers, paying people, paid plan, free plan, per plan, tier`,
  invoices: `invoice, invoices, invoicing, bill, bills, billing, receipt, receipts, tax receipt, invoice pdf, invoice
    number, statement, statements, account statement, payment terms, overdue, unpaid, outstanding, reminder letter,
    dunning, dunning run, collections, e-invoice, xrechnung, zugferd, peppol, factur-x, credit memo, bookkeeper`,
  "double-entry": `ledger, general ledger, double entry, double-entry, debit, credit, journal, journal entry, posting,
    postings, chart of accounts, trial balance, unbalanced, balance sheet, running total, booking, bookings, reversed
    booking, accrual, closing, year-end, yearly closing, month end, cost centre, cost center, accountant, accountants,
    bookkeeping, datev, fiscal year, reconciliation, reconcile, matching payments, bank statement, camt, camt.053,
    mt940, open items`,
  "bank accounts": `bank account, account balance, balance, iban, bic, transfer, transfers, transfer of funds, funds,
    wire, standing order, direct debit, overdraft, savings, savings account, deposit, withdrawal, withdraw, top-up,
    top up, payee, beneficiary, sepa, swift, ach, money movement, core banking, debit and credit, savepoint, halfway`,
  "know your customer": `kyc, know your customer, identity check, identity document, identity verification, id card,
    passport, passports, passport upload, liveness, selfie check, proof of address, proof of identity, onboarding
    check, document verification, video ident, onfido, jumio, idnow, beneficial owner, driving licence`,
  "money laundering": `aml, anti money laundering, money laundering, sanction, sanctions, sanction list, sanctions
    list, watchlist, pep, suspicious transaction, suspicious, transaction monitoring, fincen, sar filing, above 10000,
    smurfing, structuring, suspicious activity`,
  "fraud in payments": `fraud, fraudulent, stolen card, stolen cards, card testing, fraud rule, fraud score, risk
    score, velocity check, chargebacks, scam, scammers, sim swap, account takeover, block transfers, radar rules,
    device fingerprint, money mule`,
  trading: `order book, orderbook, iceberg, iceberg orders, limit order, market order, matching engine, match orders,
    ticker, candles, candlestick, bid ask, spread, exchange, broker, portfolio, positions, stocks, shares, dividend,
    backtest, slippage, hedge, futures, fix protocol, market data, quote feed, pnl, profit and loss, short selling,
    crypto, bitcoin, ethereum, wallet, smart contract, gas fee, blockchain, solidity, nft, token transfer`,
  lending: `loan, loans, mortgage, interest, interest rate, instalment, repayment, amortisation, amortization, credit
    score, creditworthiness, schufa, borrower, lender, collateral, arrears, default risk, loan application,
    underwriting, apr`,
  insurance: `insurance, insured, policyholder, claim, claims, premium, premiums, deductible, coverage, accident,
    damage report, claim handler, adjuster, actuary, insurer, reinsurance, broker portal, loss event, hail damage`,
  "currency conversion": `exchange rate, exchange rates, fx rate, currency, currencies, foreign currency, conversion
    rate, multi-currency, eur, usd, gbp, dollars, euros, ecb rates, currency conversion`,
  "point of sale": `pos, point of sale, cash register, till, cashier, kiosk, card terminal, receipt printer, cash
    drawer, self checkout, store staff, shop floor, fiscal, tse, z report, tips, table service`,
  suppliers: `supplier, suppliers, procurement, purchase order, rfq, request for quotation, request for quote, tender,
    bid invitation, purchasing, sourcing, supplier portal, vendor rating, goods ordered, requisition, approval of
    purchases, erp, sap, netsuite, dynamics, odoo, material master`,
  "sales people": `crm, lead, leads, sales rep, sales team, opportunity, deal, deals, pipeline stage, quote,
    quotation, offer letter, salesforce, hubspot, pipedrive, account executive, prospect, prospects, commission
    report, win rate, cold call, customer notes, contact person, key account`,
  marketing: `newsletter, campaign, campaigns, mailing, mailing list, mailchimp, landing page, utm, conversion,
    conversion funnel, funnel, a/b test, ab test, split test, audience, segment, segments, attribution, tracking
    pixel, google analytics, ga4, gtm, tag manager, ads, advert, adverts, ad banner, retargeting, lead magnet, open
    rate, click rate, unsubscribe, double opt-in, opt in`,
  reviews: `review, reviews, star rating, stars, rating, ratings, testimonial, customer feedback, feedback form, nps,
    survey, satisfaction, fake reviews, review moderation`,
  wishlists: `wishlist, wish list, favourites, favorites, saved items, save for later, watch list, bookmark,
    bookmarks, heart icon, liked items, remember products`,
  "shares of money": `split amount, divide an amount, allocation, allocate, shares must equal, sum of shares,
    remainder, recipients, several recipients, payout allocation, pro rata, apportion, split the bill, distribute,
    cents disappear, largest remainder`,
  "payslip sums": `payroll, payslip, gross to net, social security, income tax, salary differs, tax bracket,
    deductions, payroll run, wage tax, pension`,
  "quotes and offers": `quote, quotation, offer, proposal, price quote, configure price, cpq, configurator, car
    configurator, validity of offer, discount approval, tender, bid`,
  "goods lost": `damaged goods, lost parcel, lost parcels, missing parcel, claim with carrier, broken on arrival,
    insurance claim parcel, complaint, wrong item, mixed up orders, picking error`,
  "age and limits": `age check, age verification, alcohol, adult, 18, under age, restricted goods, quantity limit,
    purchase limit, per customer limit, scalpers, bots buying, drop sale, queue-it, waiting room`,
  "gift things": `gift, gift card, gift cards, gift wrap, gift message, voucher balance, present, greeting card`,
  "b2b orders": `b2b, wholesale, reorder, bulk order, csv order, order template, customer specific price, net terms,
    approval workflow, purchase approval, buyer roles, company account, minimum order`,
  "customer service view": `order lookup, order status, order history, cancel order, change order, edit order, after
    ordering, ordering, order confirmation, confirmation mail, order email, delivery address change, split order,
    partial shipment, backorder mail`,
  expenses: `expense, expenses, expense report, receipt scan, travel expenses, mileage claim, per diem, reimbursement,
    corporate card, cost category, spending, spending categories, round up savings, budgeting`,
  "payment terminals": `terminal, card reader, contactless, tap to pay, emv, chip, pin pad, offline payment,
    settlement, end of day, batch close, interchange`,
  "mistyped money": `wrong amount, wrong sum, decimal point, comma, factor 100, cents and euros, minor units, amount
    format, negative amount, zero amount, overflow of amounts, currency mix-up`,
  "late payers": `late payment, overdue, reminder, reminder fees, dunning, dunning level, debt collection, payment
    reminder, grace period, suspend account, unpaid invoices, arrears, failed renewal, involuntary churn`,
  "tips and splits": `tip, tips, tipping, split bill, split payment, share costs, group order, pay together`,
  "empty shelves": `sold out, restock alert, back in stock, notify me, availability alert, pre-order, preorder,
    backorder, stock forecast, safety stock, replenishment order, runs out`,
  "expired goods": `expiry date, best before, batch number, lot number, fefo, recall, traceability, cold chain,
    temperature log, spoiled, shelf life, use by`,
  "truck at the gate": `yard, dock booking, slot booking, gate, loading bay, ramp, waiting trucks, idle at the dock,
    weighbridge, check-in of trucks, driver waits, unloading`,
  "books closed": `month-end, year-end, closing, close the books, period lock, locked period, accruals, depreciation,
    fixed assets, consolidation, intercompany, audit file, gobd, saf-t`,
};
