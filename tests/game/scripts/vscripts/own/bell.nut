function Ring() {}
