/** Changing what was booked: cancelling, other flights, bags or passengers; and certificates as a gesture. */
import { BAG_USD, legsPrice, methodOf, passengerOf, priced, userOf, type FlightRef } from './booking.ts';
import {
  Refusal,
  type Cabin,
  type Draft,
  type Leg,
  type Passenger,
  type Records,
  type Reservation,
} from './records.ts';

const CERTIFICATE_IDS: readonly string[] = [
  'certificate_3221322',
  'certificate_3221323',
  'certificate_3221324',
];

export const reservationOf = (records: Records, id: string): Reservation => {
  const reservation = records.get('reservations', id);
  if (!reservation) throw new Refusal('reservation not found');
  return reservation;
};

const put = (draft: Draft, reservation: Reservation): Reservation => {
  draft.put('reservations', reservation.reservation_id, reservation);
  return reservation;
};

/** Gives every payment back to where it came from. Doing it twice gives back twice. */
export const cancel = (draft: Draft, input: { readonly reservation_id: string }): Reservation => {
  const reservation = reservationOf(draft, input.reservation_id);
  const { payment_history } = reservation;
  const refunds = payment_history.map(({ payment_id, amount }) => ({ payment_id, amount: -amount }));
  return put(draft, {
    ...reservation,
    payment_history: [...payment_history, ...refunds],
    status: 'cancelled',
  });
};

export type FlightChange = {
  readonly reservation_id: string;
  readonly cabin: Cabin;
  readonly flights: readonly FlightRef[];
  readonly payment_id: string;
};

/** A leg that is held in the same cabin keeps its price. The reservation's own cabin field stays as it was. */
export const changeFlights = (draft: Draft, change: FlightChange): Reservation => {
  const reservation = reservationOf(draft, change.reservation_id);
  const people = reservation.passengers.length;
  const legs = change.flights.map((wanted): Leg => {
    const held = change.cabin === reservation.cabin ? heldLeg(reservation, wanted) : undefined;
    if (!held) return priced(draft, wanted, { cabin: change.cabin, people });
    const { flight_number, date, price, origin, destination } = held;
    return { flight_number, date, price, origin, destination };
  });
  const difference = (legsPrice(legs) - legsPrice(reservation.flights)) * people;
  const paid = pay(draft, reservation, { payment_id: change.payment_id, amount: difference });
  return put(draft, { ...paid, flights: legs });
};

const heldLeg = ({ flights }: Reservation, wanted: FlightRef): Leg | undefined =>
  flights.find(({ flight_number, date }) => flight_number === wanted.flight_number && date === wanted.date);

export type BagChange = {
  readonly reservation_id: string;
  readonly total_baggages: number;
  readonly nonfree_baggages: number;
  readonly payment_id: string;
};

export const changeBags = (draft: Draft, change: BagChange): Reservation => {
  const reservation = reservationOf(draft, change.reservation_id);
  const { total_baggages, nonfree_baggages, payment_id } = change;
  const amount = BAG_USD * Math.max(0, nonfree_baggages - reservation.nonfree_baggages);
  const paid = pay(draft, reservation, { payment_id, amount });
  return put(draft, { ...paid, total_baggages, nonfree_baggages });
};

/** Takes an amount (or gives it back where it is negative) and writes it into the history; nothing for 0. */
const pay = (
  draft: Draft,
  reservation: Reservation,
  payment: { readonly payment_id: string; readonly amount: number },
): Reservation => {
  const { payment_id, amount } = payment;
  const user = userOf(draft, reservation.user_id);
  const method = methodOf(user, payment_id);
  if (!method) throw new Refusal('payment method not found');
  if (method.source === 'certificate') throw new Refusal('certificate cannot be used to update reservation');
  if (method.source === 'gift_card' && method.amount < amount)
    throw new Refusal('gift card balance is not enough');
  if (amount === 0) return reservation;
  if (method.source === 'gift_card') {
    const methods = { ...user.payment_methods, [payment_id]: { ...method, amount: method.amount - amount } };
    draft.put('users', reservation.user_id, { ...user, payment_methods: methods });
  }
  return { ...reservation, payment_history: [...reservation.payment_history, { payment_id, amount }] };
};

export type PassengerChange = { readonly reservation_id: string; readonly passengers: readonly Passenger[] };

export const changePassengers = (draft: Draft, change: PassengerChange): Reservation => {
  const reservation = reservationOf(draft, change.reservation_id);
  if (change.passengers.length !== reservation.passengers.length)
    throw new Refusal('number of passengers does not match');
  return put(draft, { ...reservation, passengers: change.passengers.map(passengerOf) });
};

/** Doing it twice gives two certificates. */
export const sendCertificate = (
  draft: Draft,
  { user_id, amount }: { readonly user_id: string; readonly amount: number },
): string => {
  const user = userOf(draft, user_id);
  const id = CERTIFICATE_IDS.find((candidate) => !methodOf(user, candidate));
  if (id === undefined) throw new Refusal('no certificate id is free for this user');
  const payment_methods = { ...user.payment_methods, [id]: { source: 'certificate', amount, id } as const };
  draft.put('users', user_id, { ...user, payment_methods });
  return `Certificate ${id} added to user ${user_id} with amount ${amount}.`;
};
